/// <reference types="node" preserve="true" />
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

/** Only a checkout has it. A package contains the built site. */
const BUILDER = pathOf("../build/siteMain.ts")
const SITE = pathOf("../dist/site")
const TEXTS = pathOf("../dist/texts")
const DOWNLOADS = pathOf("../dist/downloads")

const run = promisify(execFile)

/** Remembers a successful result. A failed attempt is repeated. */
const once = (open: () => Promise<string>): (() => Promise<string>) => {
  let opened: Promise<string> | undefined
  return () => {
    if (opened !== undefined) return opened
    const attempt = open()
    opened = attempt
    attempt.catch(() => (opened = undefined))
    return attempt
  }
}

/** Returns a function that builds a part in a checkout, and returns its folder; in a package, that of `packaged`. */
const built = (
  part: "--texts" | "--pages" | "--downloads",
  folder: string,
  packaged: string
): (() => Promise<string>) =>
  once(async () => {
    if (!existsSync(BUILDER)) return packaged
    await run(process.execPath, [BUILDER, part])
    return folder
  })

/**
 * The folders of the documentation and of the packed packages. A package has them already. In a checkout they are built
 * first, unless they are those of its sources: the texts take two seconds, the pages about fifteen, and the packages about
 * five. The promises reject if that fails.
 */
export const site = {
  texts: built("--texts", TEXTS, SITE),
  pages: built("--pages", SITE, SITE),
  downloads: built("--downloads", DOWNLOADS, DOWNLOADS)
}
