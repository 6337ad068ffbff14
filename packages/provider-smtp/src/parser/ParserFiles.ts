/** The files of the parser process. The bundle of agentos-server replaces this module. */
import { realpathSync } from "node:fs"
import { findPackageJSON } from "node:module"
import { basename, dirname, extname, join } from "node:path"
import { fileURLToPath } from "node:url"

/** A source file beside this module, or the file built from it. */
export const PARSER_MAIN = fileURLToPath(new URL(`./parserMain${extname(import.meta.url)}`, import.meta.url))

const packageDirectory = (specifier: string): string => {
  const file = findPackageJSON(specifier, import.meta.url)
  if (file === undefined) throw new Error(`${specifier} has no package.json`)
  // The permission model compares real paths, and pnpm links packages.
  return dirname(realpathSync(file))
}

const ancestorsOf = (directory: string): ReadonlyArray<string> =>
  directory === dirname(directory) ? [directory] : [directory, ...ancestorsOf(dirname(directory))]

/** Returns the directories of its modules: this package, the core beside it, and the dependencies of both. */
export const parserFiles = (): ReadonlyArray<string> => {
  const own = packageDirectory("..")
  const installed = ancestorsOf(own).map((directory) =>
    basename(directory) === "node_modules" ? directory : join(directory, "node_modules")
  )
  return [own, packageDirectory("@agentos/core"), ...installed]
}
