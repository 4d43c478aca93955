/** The model to begin with, from the letters that a provider's keys start with. A key without a sign of its own means `gpt-4o`. */
export function modelForKey(key: string): string {
  const text = key.trim();
  if (text.startsWith('sk-ant-')) return 'anthropic/claude-sonnet-4-20250514';
  if (text.startsWith('sk-or-')) return 'openrouter/anthropic/claude-sonnet-4';
  if (text.startsWith('AIza')) return 'gemini/gemini-2.5-pro';
  if (text.startsWith('gsk_')) return 'groq/llama-3.3-70b-versatile';
  if (text.startsWith('xai-')) return 'xai/grok-4';
  return 'gpt-4o';
}
