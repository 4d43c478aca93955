import { expect, it } from 'vitest';
import { routeModel } from './model-name.ts';

it.each([
  ['openai/gpt-4o', undefined, 'openai', 'gpt-4o', 'https://api.openai.com/v1'],
  ['gpt-4o', undefined, 'openai', 'gpt-4o', 'https://api.openai.com/v1'],
  ['o3-mini', undefined, 'openai', 'o3-mini', 'https://api.openai.com/v1'],
  ['claude-sonnet-4-20250514', undefined, 'anthropic', 'claude-sonnet-4-20250514', 'https://api.anthropic.com/v1'],
  ['openhands/claude-sonnet-4-20250514', undefined, 'chat', 'claude-sonnet-4-20250514', 'https://llm-proxy.app.all-hands.dev/v1'],
  ['gemini/gemini-2.5-pro', undefined, 'google', 'gemini-2.5-pro', 'https://generativelanguage.googleapis.com/v1beta'],
  ['vertex_ai/gemini-2.5-pro', undefined, 'vertex', 'gemini-2.5-pro', 'https://aiplatform.googleapis.com/v1/publishers/google'],
  ['gemini/gemini-2.5-pro', 'http://box:4000/v1', 'chat', 'gemini-2.5-pro', 'http://box:4000/v1'],
  ['azure/my-gpt', 'https://me.openai.azure.com', 'azure', 'my-gpt', 'https://me.openai.azure.com/openai/v1'],
  [
    'bedrock/openai.gpt-oss-120b-1:0',
    'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
    'chat',
    'openai.gpt-oss-120b-1:0',
    'https://bedrock-runtime.us-west-2.amazonaws.com/openai/v1',
  ],
  [
    'bedrock/us.anthropic.claude-opus-4-6-v1',
    'https://bedrock-runtime.us-west-2.amazonaws.com/',
    'bedrock',
    'us.anthropic.claude-opus-4-6-v1',
    'https://bedrock-runtime.us-west-2.amazonaws.com',
  ],
  [
    'vertex_ai/claude-sonnet-4-5',
    'https://europe-west1-aiplatform.googleapis.com',
    'vertex',
    'claude-sonnet-4-5',
    'https://europe-west1-aiplatform.googleapis.com',
  ],
  [
    'vertex_ai/gemini-2.5-pro',
    'https://aiplatform.googleapis.com.evil.example',
    'chat',
    'gemini-2.5-pro',
    'https://aiplatform.googleapis.com.evil.example',
  ],
  [
    'vertex_ai/gemini-2.5-pro',
    'https://box.example/aiplatform.googleapis.com/',
    'chat',
    'gemini-2.5-pro',
    'https://box.example/aiplatform.googleapis.com',
  ],
  ['openrouter/anthropic/claude-3.5-sonnet', undefined, 'chat', 'anthropic/claude-3.5-sonnet', 'https://openrouter.ai/api/v1'],
  ['ollama/qwen3:8b', undefined, 'chat', 'qwen3:8b', 'http://127.0.0.1:11434/v1'],
  ['ollama/qwen3:8b', 'http://box:11434/', 'chat', 'qwen3:8b', 'http://box:11434/v1'],
  ['anthropic/claude-x', 'http://box:4000', 'anthropic', 'claude-x', 'http://box:4000/v1'],
  ['openai/x', 'http://box:4010/v1/', 'chat', 'x', 'http://box:4010/v1'],
  ['openai/x', '', 'openai', 'x', 'https://api.openai.com/v1'],
  ['replay/some-run', 'http://box:4010/v1', 'chat', 'replay/some-run', 'http://box:4010/v1'],
  ['litellm_proxy/team/x', 'http://box/api', 'chat', 'team/x', 'http://box/api'],
  ['my-model', 'http://box/v1', 'chat', 'my-model', 'http://box/v1'],
])('LM40, LM41: %s at %s', (model, given, protocol, modelId, baseUrl) => {
  expect(routeModel(model, given)).toMatchObject({ protocol, modelId, baseUrl });
});
