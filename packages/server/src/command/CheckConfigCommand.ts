import { type Check, CHECKS_JSON, passed, reportChecks, warned } from "@agentos/node/command-line"
import { defineCommand, runEffect } from "./ServerCommand.ts"

/** RFC 2142: people report abuse and broken mail to these addresses. */
const NO_POSTMASTER = warned(
  "mail to postmaster and abuse reaches no mailbox: it is only recorded",
  "Create a mailbox, and set AGENTOS_POSTMASTER to its address."
)

export const CHECK_CONFIG = defineCommand(
  {
    name: "check-config",
    summary: "Check the configuration and every connection",
    description:
      "Reads every variable and the files that they name, and reports all problems at once, unknown AGENTOS_* variables included. If they are valid, tries every connection that a server needs, at most 10 s: the database and its version, each chain with its token, facilitator and refund wallet, the mail relay with STARTTLS and AUTH, and the Twilio account. Changes nothing, sends no mail and pays nothing.\nExit code 1 if a check failed; a warning is not a failure.",
    arguments: [],
    flags: [
      { name: "offline", type: "boolean", summary: "Check the variables and files only, and connect to nothing." }
    ],
    examples: [
      { line: "agentos-server check-config", does: "Before the first start" },
      { line: "agentos-server check-config --offline", does: "Where the services cannot be reached" }
    ],
    output: "rows",
    json: CHECKS_JSON,
    exits: []
  },
  async (context, { flags: { offline } }) => {
    const { Clock, Effect } = await import("effect")
    const ServerConfig = await import("../config/ServerConfig.ts")
    const { setupOf } = await import("../program/ServerSetup.ts")
    const { schemaOf } = await import("../program/Maintenance.ts")
    const { certificateFinding, configuredCertificate } = await import("../program/MailIntake.ts")
    const { unknownVariables } = await import("../variable/Variables.ts")
    for (const warning of unknownVariables(context.host.env)) context.output.warn(warning)
    const checks: Array<Check> = []
    await runEffect(
      context,
      Effect.gen(function* () {
        const config = yield* ServerConfig.read(context.host.env)
        const setup = yield* setupOf(config)
        const certificate = config.mail && (yield* configuredCertificate(config.mail))
        yield* Effect.flatMap(schemaOf(config), ({ validate }) => validate)
        checks.push({ name: "variables", ...passed("valid") })
        if (config.mail && config.quotas.mail.postmaster === null) checks.push({ name: "postmaster", ...NO_POSTMASTER })
        if (certificate !== undefined)
          checks.push({
            name: "mail certificate",
            ...certificateFinding(certificate.report, yield* Clock.currentTimeMillis)
          })
        if (offline) return
        const { checkConnections } = yield* Effect.promise(() => import("../check/ConnectionCheck.ts"))
        checks.push(...(yield* checkConnections(config, setup)))
      })
    )
    reportChecks(context.output, checks)
  }
)
