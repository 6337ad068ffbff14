import { restoreRows, type Rows } from "@agentos/postgres/testing"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, brotliDecompress, constants } from "node:zlib"

/** The recorded releases, a folder each. */
export const RECORDS = fileURLToPath(new URL("release/", import.meta.url))

/** A customer of the recorded servers. */
export interface Customer {
  readonly privateKey: `0x${string}`
  readonly accessToken: string
}

/** A record of a release: `release.json`, the program in `server.br`, and everything that it kept in `data.br`. */
export interface Release {
  readonly version: string
  /** The commit whose program it is. */
  readonly commit: string
  /** When the rows were written, in milliseconds since the Unix epoch. */
  readonly recordedAt: number
  readonly customers: ReadonlyArray<Customer>
  /** The digest of each migration and index of its schema, by name. */
  readonly schema: Readonly<Record<string, string>>
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Returns the digests of the recorded migrations and of the indexes in `packages/postgres` of a checkout. */
export const schemaDigests = async (checkout: string): Promise<Release["schema"]> => {
  const folder = join(checkout, "packages/postgres")
  const { SCHEMA } = (await import(pathToFileURL(join(folder, "src/Migrations.ts")).href)) as {
    readonly SCHEMA: {
      readonly migrations: Readonly<Record<string, unknown>>
      readonly indexes: ReadonlyArray<{ readonly name: string; readonly definition: string }>
    }
  }
  const migrations = Object.keys(SCHEMA.migrations).map(
    async (name) => [name, digest(await readFile(join(folder, `test/schema/${name}.sql`), "utf8"))] as const
  )
  const indexes = SCHEMA.indexes.map(({ definition, name }) => [`index ${name}`, digest(definition)] as const)
  return Object.fromEntries([...(await Promise.all(migrations)), ...indexes])
}

/** Returns a line for each migration or index of a release that a later schema has changed or lost. */
export const changedSince = (
  { schema, version }: Pick<Release, "schema" | "version">,
  current: Release["schema"]
): ReadonlyArray<string> =>
  Object.entries(schema).flatMap(([name, released]) => {
    if (current[name] === released) return []
    const change = current[name] === undefined ? "removed" : "changed"
    return [
      `${name} was released with ${version} and is ${change}. Restore it, and add another migration after the last one.`
    ]
  })

/** Files by path. Those of a sandbox have a character for each byte; the program is text. */
export type Files = Readonly<Record<string, string>>

/** The rows of the database, and the files of the chain, the carrier and the server's keys, which belong to them. */
export interface Data {
  readonly rows: Rows
  readonly files: Files
}

export const pack = (value: unknown): Promise<Buffer> =>
  promisify(brotliCompress)(JSON.stringify(value), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 }
  })

const unpack = async (file: string): Promise<unknown> =>
  JSON.parse((await promisify(brotliDecompress)(await readFile(file))).toString())

export const readFiles = async (folder: string, paths: ReadonlyArray<string>): Promise<Files> => {
  const texts = await Promise.all(paths.map((path) => readFile(join(folder, path), "latin1")))
  return Object.fromEntries(paths.map((path, index) => [path, texts[index]!]))
}

const writeFiles = async (folder: string, files: Files, encoding: "utf8" | "latin1"): Promise<void> => {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 })
    await writeFile(join(folder, path), text, { encoding, mode: 0o600 })
  }
}

/** A release with its program in a folder. */
export interface OpenRelease extends Release {
  /** The entry module of its server. */
  readonly program: string
  readonly rows: Rows
  /** Fills the data directory of a sandbox. */
  readonly writeData: (directory: string) => Promise<void>
  /** Fills an empty database, with the schema that the program makes. */
  readonly restore: (databaseUrl: string) => Promise<void>
}

export const RELEASES: ReadonlyArray<string> = await readdir(RECORDS)

export const readRelease = async (version: string): Promise<Release> =>
  JSON.parse(await readFile(join(RECORDS, version, "release.json"), "utf8")) as Release

/** Unpacks a recorded release into an empty folder. */
export const openRelease = async (version: string, folder: string): Promise<OpenRelease> => {
  const record = join(RECORDS, version)
  const release = await readRelease(version)
  await writeFiles(folder, (await unpack(join(record, "server.br"))) as Files, "utf8")
  const { files, rows } = (await unpack(join(record, "data.br"))) as Data
  const program = join(folder, "agentos-server.cjs")
  return {
    ...release,
    program,
    rows,
    writeData: (directory) => writeFiles(directory, files, "latin1"),
    restore: async (url) => {
      const env = { PATH: process.env["PATH"], DATABASE_URL: url }
      await promisify(execFile)(process.execPath, [program, "migrate"], { env })
      await restoreRows(url, rows, Date.now() - release.recordedAt)
    }
  }
}
