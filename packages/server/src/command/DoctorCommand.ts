import { CHECKS_JSON, Failure, reportChecks } from "@agentos/node/command-line"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { defineCommand, runEffect } from "./ServerCommand.ts"

export const DOCTOR = defineCommand(
  {
    name: "doctor",
    summary: "Check a deployment, and say what to do",
    description:
      "Checks the configuration and every connection as check-config does, DNS as check-dns does, the database (version, migrations, locks, idle transactions, dead rows, slow statements, disk, servers), and the work in it (refunds, payments, mail, webhooks, ledger, jobs, stopped sales). Changes nothing. Takes at most half a minute. An embedded database has one user at a time: while its server runs, use the route /internal/doctor.\nWith --bundle, also writes a ZIP file for those who help: this report, the configuration without secrets, the last 100 records of the audit, the metrics of the running server, and versions.\nExit code 1 if a check failed; a warning is not a failure.",
    arguments: [],
    flags: [
      {
        name: "bundle",
        type: "text",
        value: "FILE",
        summary: "Write a new ZIP file with the report.",
        completes: "file"
      }
    ],
    examples: [
      { line: "agentos-server doctor", does: "Find out what is wrong" },
      { line: "agentos-server doctor --bundle report.zip", does: "Collect what helpers ask for" }
    ],
    output: "rows",
    json: CHECKS_JSON,
    exits: [6]
  },
  async (context, { flags: { bundle } }) => {
    const { env, workingDirectory } = context.host
    const path = bundle === undefined ? undefined : resolve(workingDirectory, bundle)
    if (path !== undefined && existsSync(path))
      throw new Failure({ code: "EXISTS", message: `${path} exists already. Nothing was written.` })
    const { Effect, References } = await import("effect")
    const { diagnose } = await import("../check/Doctor.ts")
    const { writeBundle } = await import("../check/Bundle.ts")
    const examine = Effect.gen(function* () {
      const checks = yield* diagnose(env)
      if (path !== undefined) yield* writeBundle(path, env, checks)
      return checks
    })
    // The report has what a server would log.
    const checks = await runEffect(context, Effect.provideService(examine, References.MinimumLogLevel, "None"))
    if (path !== undefined) context.output.note(`Wrote ${path}.`)
    reportChecks(context.output, checks)
  }
)
