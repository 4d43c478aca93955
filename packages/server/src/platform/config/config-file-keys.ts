/**
 * The keys of OpenHands' `config.toml` that mean something here, by section, with the name that the environment has for each; and
 * those of our own that are about output.
 */
export const CONFIG_FILE_KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  core: {
    workspace_base: 'WORKSPACE_BASE',
    runtime: 'RUNTIME',
    jwt_secret: 'JWT_SECRET',
    max_iterations: 'MAX_ITERATIONS',
    max_budget_per_task: 'MAX_BUDGET_PER_TASK',
    max_concurrent_conversations: 'MAX_CONCURRENT_CONVERSATIONS',
    enable_browser: 'ENABLE_BROWSER',
    search_api_key: 'SEARCH_API_KEY',
  },
  llm: { model: 'LLM_MODEL', api_key: 'LLM_API_KEY', base_url: 'LLM_BASE_URL' },
  agent: { enable_browsing: 'AGENT_ENABLE_BROWSING' },
  sandbox: {
    base_container_image: 'SANDBOX_BASE_CONTAINER_IMAGE',
    runtime_container_image: 'SANDBOX_RUNTIME_CONTAINER_IMAGE',
    volumes: 'SANDBOX_VOLUMES',
    user_id: 'SANDBOX_USER_ID',
    close_delay: 'SANDBOX_CLOSE_DELAY',
    output_chars: 'SANDBOX_OUTPUT_CHARS',
    output_file_size: 'SANDBOX_OUTPUT_FILE_SIZE',
    output_size: 'SANDBOX_OUTPUT_SIZE',
    no_output_seconds: 'SANDBOX_NO_OUTPUT_SECONDS',
    remote_runtime_api_url: 'SANDBOX_REMOTE_RUNTIME_API_URL',
    api_key: 'SANDBOX_API_KEY',
  },
  security: { confirmation_mode: 'SECURITY_CONFIRMATION_MODE' },
};

/** Sections that are one value as a whole, which the environment has as JSON. */
export const CONFIG_FILE_SECTIONS: Readonly<Record<string, string>> = { mcp: 'MCP_CONFIG' };
