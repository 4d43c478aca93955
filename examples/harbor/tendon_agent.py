"""Tendon as an agent of the Harbor evaluation framework.

    harbor run -d DATASET --agent-import-path tendon_agent:TendonAgent -m anthropic/claude-sonnet-4-5

`TENDON_PACKAGE` names the packed tendon-*.tgz on this machine (`node scripts/pack.mjs && npm pack ./.cache/package` makes it); an image that has `tendon` needs none.
`LLM_API_KEY` is the key of the model. The container is the sandbox, so commands run in it directly. See docs/evaluation.md.
"""

import json
import os
import shlex
from pathlib import Path

from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template

LOGS = "/logs/agent"
TRAJECTORY = "trajectory.json"
INSTALL = Path(__file__).with_name("install-tendon.sh")
# What decides which model is asked, and how.
PASSED_ON = ("LLM_API_KEY", "LLM_BASE_URL", "LLM_EFFORT", "LLM_TOOL_CALLING", "MAX_ITERATIONS", "MAX_BUDGET_PER_TASK")


class TendonAgent(BaseInstalledAgent):
    SUPPORTS_ATIF = True

    @staticmethod
    def name():
        return "tendon"

    def get_version_command(self):
        return "tendon --version"

    async def install(self, environment):
        package = os.environ.get("TENDON_PACKAGE")
        if package:
            await environment.upload_file(Path(package), "/installed-agent/tendon.tgz")
        await environment.upload_file(INSTALL, "/installed-agent/install-tendon.sh")
        await self.exec_as_root(environment, command="bash /installed-agent/install-tendon.sh")

    @with_prompt_template
    async def run(self, instruction, environment, context):
        env = {name: os.environ[name] for name in PASSED_ON if os.environ.get(name)}
        if self.model_name:
            env["LLM_MODEL"] = self.model_name
        elif os.environ.get("LLM_MODEL"):
            env["LLM_MODEL"] = os.environ["LLM_MODEL"]
        # An agent that fails its task is no failure of the run: what it has left is judged.
        command = (
            f"mkdir -p {LOGS} && "
            f"printf %s {shlex.quote(instruction)} | "
            f'tendon run - --json --runtime none --home {LOGS}/home --workspace "$PWD" --atif {LOGS}/{TRAJECTORY} '
            f"> {LOGS}/events.jsonl 2> {LOGS}/tendon.log || test $? = 1"
        )
        await self.exec_as_agent(environment, command=command, env=env)

    def populate_context_post_run(self, context):
        try:
            metrics = json.loads((Path(self.logs_dir) / TRAJECTORY).read_text())["final_metrics"]
        except (OSError, ValueError, KeyError):
            return  # it never got so far
        context.n_input_tokens = metrics["total_prompt_tokens"]
        context.n_cache_tokens = metrics["total_cached_tokens"]
        context.n_output_tokens = metrics["total_completion_tokens"]
        context.cost_usd = metrics["total_cost_usd"]
