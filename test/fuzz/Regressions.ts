import { mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Finding } from "./Campaign.ts"

/** An input that once broke a promise. */
export interface Regression {
  readonly target: string
  /** The promise that it broke. */
  readonly rule: string
  readonly input: unknown
}

const FOLDER = fileURLToPath(new URL("regression", import.meta.url))

/** Every input that was kept, by its file's name. */
export const readRegressions = async (): Promise<ReadonlyArray<readonly [name: string, regression: Regression]>> => {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith(".json")).toSorted()
  return Promise.all(
    names.map(async (name) => [name, JSON.parse(await readFile(join(FOLDER, name), "utf8")) as Regression] as const)
  )
}

/** Writes a finding to a file from which the tests replay it, and resolves to the file's path. */
export const keepFinding = async ({ input, rule, target }: Finding): Promise<string> => {
  const path = join(FOLDER, `${target}-${rule.replaceAll(/[^a-z0-9]+/gi, "-").toLowerCase()}.json`)
  await mkdir(FOLDER, { recursive: true })
  await writeFile(path, `${JSON.stringify({ target, rule, input } satisfies Regression, undefined, 2)}\n`)
  return path
}
