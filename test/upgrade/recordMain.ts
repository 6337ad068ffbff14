import { dumpRows } from "@agentos/postgres/testing"
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { minifySync } from "rolldown/experimental"
import { startCluster } from "../support/Cluster.ts"
import { type Data, pack, readFiles, RECORDS, type Release, schemaDigests } from "./Release.ts"
import { missing, stock } from "./Stock.ts"

/**
 * Records a release: builds the server of a checkout, fills every table through its doors, and writes both to
 * `release/VERSION`. See docs/releasing.md.
 */
const { positionals } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== "--"),
  allowPositionals: true
})
const checkout = resolve(positionals[0] ?? ".")
const server = join(checkout, "packages/server")
const { version } = JSON.parse(readFileSync(join(server, "package.json"), "utf8")) as Pick<Release, "version">
const folder = join(RECORDS, version)
const bundle = join(server, "dist/bundle")
const say = (line: string) => void process.stdout.write(`${line}\n`)

/** The parts of a sandbox that belong to the rows of its database. */
const KEPT = ["chain", "carrier", "server/keyring"]
const filesOf = (directory: string): ReadonlyArray<string> =>
  KEPT.flatMap((path) => {
    if (statSync(join(directory, path)).isFile()) return [path]
    return readdirSync(join(directory, path)).map((name) => `${path}/${name}`)
  })

execFileSync(process.execPath, ["build/bundleMain.ts"], { cwd: server, stdio: "inherit" })
const programs = readdirSync(bundle).filter((name) => name.endsWith(".cjs"))
const minified = programs.map((name) => {
  const { code } = minifySync(name, readFileSync(join(bundle, name), "utf8"), {
    compress: false,
    mangle: false,
    codegen: { removeWhitespace: true }
  })
  return [name, code] as const
})
const licenses = ["THIRD_PARTY_LICENSES", readFileSync(join(bundle, "THIRD_PARTY_LICENSES"), "latin1")] as const

const cluster = await startCluster({
  servers: 1,
  telephones: true,
  serverModule: join(bundle, "agentos-server.cjs"),
  database: { synchronous_commit: "on" }
})
try {
  const customers = await stock(cluster)
  const lacking = await missing(cluster.database.url)
  if (lacking.length > 0) throw new Error(`these tables have no rows, and these states none: ${lacking.join(", ")}`)
  const data: Data = {
    rows: await dumpRows(cluster.database.url),
    files: await readFiles(cluster.directory, filesOf(cluster.directory))
  }
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: checkout, encoding: "utf8" }).trim()
  const schema = await schemaDigests(checkout)
  const release: Release = { version, commit, recordedAt: Date.now(), customers, schema }
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of [
    ["server.br", Object.fromEntries([...minified, licenses])],
    ["data.br", data]
  ] as const) {
    const bytes = await pack(value)
    writeFileSync(join(folder, name), bytes)
    say(`${name}: ${Math.ceil(bytes.length / 1_024)} KiB`)
  }
  writeFileSync(join(folder, "release.json"), `${JSON.stringify(release, undefined, 2)}\n`)
} finally {
  await cluster.stop()
}
process.exit()
