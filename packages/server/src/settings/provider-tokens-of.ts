import { GitProvider, ProviderToken, type SettingsUpdate } from '@tendon/protocol';

/** The tokens that clients before 0.37 send with the settings; what is none of a known provider is left out. */
export function providerTokensOf({
  github_token,
  provider_tokens,
}: SettingsUpdate): Partial<Record<GitProvider, ProviderToken>> | undefined {
  const given: Readonly<Record<string, unknown>> = { ...provider_tokens, ...(github_token && { github: github_token }) };
  const tokens: Partial<Record<GitProvider, ProviderToken>> = {};
  for (const provider of GitProvider.options) {
    const token = Object.hasOwn(given, provider) ? ProviderToken.safeParse(given[provider]) : undefined;
    if (token?.success) tokens[provider] = token.data;
  }
  return Object.keys(tokens).length > 0 ? tokens : undefined;
}
