import { type Check, passed, warned } from "@agentos/node/command-line"
import { Clock, Effect } from "effect"
import { read } from "../config/ServerConfig.ts"
import { schemaOf } from "../program/Maintenance.ts"
import { setupOf } from "../program/ServerSetup.ts"
import type { Environment } from "../variable/Variables.ts"

/** RFC 2142: people report abuse and broken mail to these addresses. */
const NO_POSTMASTER = warned(
  "mail to postmaster and abuse reaches no mailbox: it is only recorded",
  "Create a mailbox, and set AGENTOS_POSTMASTER to its address."
)

/** Reads every variable and the files that they name, and checks them. Connects to nothing. Fails with all problems at once. */
export const checkConfiguration = Effect.fnUntraced(function* (environment: Environment) {
  const config = yield* read(environment)
  const setup = yield* setupOf(config)
  // Servers without mail do not load its libraries.
  const intake = config.mail && (yield* Effect.promise(() => import("../program/MailIntake.ts")))
  const certificate = config.mail && intake && (yield* intake.configuredCertificate(config.mail))
  yield* Effect.flatMap(schemaOf(config), ({ validate }) => validate)
  const checks: Array<Check> = [{ name: "variables", ...passed("valid") }]
  if (config.mail && config.quotas.mail.postmaster === null) checks.push({ name: "postmaster", ...NO_POSTMASTER })
  if (intake !== undefined && certificate !== undefined)
    checks.push({
      name: "mail certificate",
      ...intake.certificateFinding(certificate.report, yield* Clock.currentTimeMillis)
    })
  return { config, setup, checks }
})
