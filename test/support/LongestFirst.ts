import { existsSync } from "node:fs"
import { join } from "node:path"
import { BaseSequencer, type TestSpecification, type Vitest } from "vitest/node"

/** Paths from the root of the files that take longest, longest first. */
const LONGEST = [
  "test/packed/packages.test.ts",
  "test/race/races.test.ts",
  "test/crash/crash.test.ts",
  "test/crash/attachments.test.ts",
  "test/outage/stops.test.ts",
  "test/e2e/attacks.test.ts",
  "test/e2e/serverCommands.test.ts",
  "test/outage/outage.test.ts",
  "test/proxies/proxies.test.ts",
  "test/race/proofs.test.ts",
  "test/site/pages.test.ts",
  "test/fuzz/attack.test.ts",
  "test/site/samples.test.ts",
  "test/e2e/workers.test.ts",
  "test/crash/mail.test.ts",
  "test/calls/calls.test.ts",
  "test/cli/terminal.test.ts",
  "test/examples/agents.test.ts",
  "test/crash/retries.test.ts",
  "test/soak/soak.test.ts",
  "test/growth/mail.test.ts",
  "test/crash/defects.test.ts",
  "test/site/console.test.ts",
  "test/outage/stuck.test.ts",
  "test/sandbox/cluster.test.ts",
  "test/chaos/defects.test.ts",
  "test/x402/self/selfFacilitatorFaults.test.ts",
  "test/race/twoBuilds.test.ts",
  "test/race/defects.test.ts",
  "test/chaos/chaos.test.ts",
  "test/fuzz/fuzz.test.ts",
  "test/race/twoServers.test.ts",
  "test/backup/backup.test.ts",
  "packages/provider-smtp/test/LargeMail.test.ts",
  "test/cli/tail.test.ts",
  "packages/postgres/test/EventRaces.test.ts",
  "packages/provider-smtp/test/SmtpAbuse.test.ts",
  "test/cli/agentctl.test.ts",
  "test/e2e/phoneVoice.test.ts",
  "test/sandbox/supervisor.test.ts",
  "test/sandbox/tour.test.ts",
  "test/e2e/mail.test.ts",
  "packages/postgres/test/Migrations.test.ts",
  "packages/server/test/Commands.test.ts",
  "test/e2e/clientStreams.test.ts",
  "test/e2e/restart.test.ts",
  "test/e2e/payment.test.ts",
  "packages/postgres/test/Plans.test.ts",
  "test/e2e/cluster.test.ts",
  "test/e2e/phoneFailures.test.ts",
  "packages/cli/test/payment/Pay.test.ts",
  "test/e2e/phoneEnd.test.ts",
  "packages/postgres/test/Database.test.ts",
  "packages/provider-smtp/test/MailParserWorker.test.ts",
  "packages/provider-smtp/test/SmtpListenerLimits.test.ts",
  "test/examples/hosts.test.ts",
  "test/sandbox/clock.test.ts",
  "packages/tools/test/Tools.test.ts",
  "packages/postgres/test/PGlite.test.ts",
  "test/contract/contract.test.ts",
  "test/e2e/webhooks.test.ts",
  "test/x402/self/selfFacilitator.test.ts",
  "packages/postgres/test/SilentConnections.test.ts",
  "packages/http-server/test/edge/RateLimiting.test.ts",
  "test/e2e/access.test.ts",
  "test/e2e/traces.test.ts",
  "test/e2e/tokens.test.ts",
  "packages/http-server/test/realtime/SocketLimits.test.ts",
  "packages/postgres/test/Pooler.test.ts",
  "test/e2e/clientPayments.test.ts",
  "packages/postgres/test/Postgres.test.ts",
  "packages/sandbox/test/chain/Chain.test.ts",
  "test/toolchain/documents.test.ts",
  "test/e2e/stagedMail.test.ts"
]

/** Without others between them, because a process that files share ends where a file of another project is next. */
const FIRST = ["isolated", "shared"]

/** Returns the index of an entry; that after the last for others. */
const placeIn = (list: ReadonlyArray<string>, entry: string): number => {
  const index = list.indexOf(entry)
  return index === -1 ? list.length : index
}

/**
 * Runs the longest files first, so that no worker waits at the end for a long file of another. By default, Vitest
 * starts with the largest files on a machine without a cache, and the largest are not the longest.
 */
export class LongestFirst extends BaseSequencer {
  private readonly paths: ReadonlyArray<string>

  constructor(vitest: Vitest) {
    super(vitest)
    this.paths = LONGEST.map((path) => join(vitest.config.root, path))
    const missing = this.paths.filter((path) => !existsSync(path))
    if (missing.length > 0) throw new Error(`LONGEST names files that do not exist: ${missing.join(", ")}`)
  }

  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const group = ({ project }: TestSpecification) => project.config.sequence.groupOrder
    const turn = ({ project }: TestSpecification) => placeIn(FIRST, project.name)
    const place = ({ moduleId }: TestSpecification) => placeIn(this.paths, moduleId)
    return (await super.sort(files)).toSorted((a, b) => group(a) - group(b) || turn(a) - turn(b) || place(a) - place(b))
  }
}
