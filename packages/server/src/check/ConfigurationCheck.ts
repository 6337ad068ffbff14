import { type Check, type Finding, passed, warned } from "@agentos/node/command-line"
import { Timestamp } from "@agentos/core"
import { Clock, Effect } from "effect"
import type { NextDkimKeyConfig } from "../config/MailConfig.ts"
import { read } from "../config/ServerConfig.ts"
import { schemaOf } from "../program/Maintenance.ts"
import { setupOf } from "../program/ServerSetup.ts"
import type { Environment } from "../variable/Variables.ts"

/** RFC 2142: people report abuse and broken mail to these addresses. */
const NO_POSTMASTER = warned(
  "mail to postmaster and abuse reaches no mailbox: it is only recorded",
  "Create a mailbox, and set AGENTOS_POSTMASTER to its address."
)

const dkimSwitch = ({ from, selector }: NextDkimKeyConfig, now: number): Finding => {
  const instant = Timestamp.toIso(from)
  return now < from
    ? passed(`the key of the selector ${selector} signs from ${instant} on`)
    : warned(
        `the key of the selector ${selector} has signed since ${instant}`,
        "Name it in AGENTOS_DKIM_SELECTOR and AGENTOS_DKIM_KEY_FILE before the next restart, and remove AGENTOS_DKIM_NEXT_*."
      )
}

/** Reads every variable and the files that they name, and checks them. Connects to nothing. Fails with all problems at once. */
export const checkConfiguration = Effect.fnUntraced(function* (environment: Environment) {
  const config = yield* read(environment)
  const setup = yield* setupOf(config)
  // Servers without mail do not load its libraries.
  const intake = config.mail && (yield* Effect.promise(() => import("../program/MailIntake.ts")))
  const certificate = config.mail && intake && (yield* intake.configuredCertificate(config.mail))
  yield* Effect.flatMap(schemaOf(config), ({ validate }) => validate)
  const checks: Array<Check> = [{ name: "variables", ...passed("valid") }]
  if (config.mail?.dkim?.next)
    checks.push({ name: "DKIM switch", ...dkimSwitch(config.mail.dkim.next, yield* Clock.currentTimeMillis) })
  if (config.mail && config.quotas.mail.postmaster === null) checks.push({ name: "postmaster", ...NO_POSTMASTER })
  if (intake !== undefined && certificate !== undefined)
    checks.push({
      name: "mail certificate",
      ...intake.certificateFinding(certificate.report, yield* Clock.currentTimeMillis)
    })
  return { config, setup, checks }
})
