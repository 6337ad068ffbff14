import { defineCommand, runEffect } from "./ServerCommand.ts"

export const CHECK_CONFIG = defineCommand(
  {
    name: "check-config",
    summary: "Check the configuration",
    description:
      "Reads every environment variable of the server, and reports all problems at once, unknown AGENTOS_* variables included.",
    arguments: [],
    flags: [],
    examples: [{ line: "agentos-server check-config", does: "Before the first start" }],
    output: "nothing",
    json: "nothing",
    exits: []
  },
  async (context) => {
    const ServerConfig = await import("../ServerConfig.ts")
    const { unknownVariables } = await import("../variable/Variables.ts")
    for (const warning of unknownVariables(context.host.env)) context.output.warn(warning)
    await runEffect(context, ServerConfig.read(context.host.env))
    context.output.note("The configuration is valid.")
  }
)
