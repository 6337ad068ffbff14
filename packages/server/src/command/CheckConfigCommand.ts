import { CHECKS_JSON, reportChecks } from "@agentos/node/command-line"
import { defineCommand, runEffect } from "./ServerCommand.ts"

export const CHECK_CONFIG = defineCommand(
  {
    name: "check-config",
    summary: "Check the configuration and every connection",
    description:
      "Reads every variable and the files that they name, and reports all problems at once, unknown AGENTOS_* variables included. If they are valid, tries every connection that a server needs, at most 10 s: the database and its version, each chain with its token, facilitator and refund wallet, the mail relay with STARTTLS and AUTH, and the Twilio account. Changes nothing, sends no mail and pays nothing.\nExit code 1 if a check failed; a warning is not a failure.",
    flags: [
      { name: "offline", type: "boolean", summary: "Check the variables and files only, and connect to nothing." }
    ],
    examples: [
      { line: "agentos-server check-config", does: "Before the first start" },
      { line: "agentos-server check-config --offline", does: "Where the services cannot be reached" }
    ],
    output: "rows",
    json: CHECKS_JSON
  },
  async (context, { flags: { offline } }) => {
    const { Effect } = await import("effect")
    const { checkConfiguration } = await import("../check/ConfigurationCheck.ts")
    const { unknownVariables } = await import("../variable/Variables.ts")
    for (const warning of unknownVariables(context.host.env)) context.output.warn(warning)
    const checks = await runEffect(
      context,
      Effect.gen(function* () {
        const { checks, config, setup } = yield* checkConfiguration(context.host.env)
        if (offline) return checks
        const { checkConnections } = yield* Effect.promise(() => import("../check/ConnectionCheck.ts"))
        return [...checks, ...(yield* checkConnections(config, setup))]
      })
    )
    reportChecks(context.output, checks)
  }
)
