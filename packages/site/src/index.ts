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

const built = (part: "--texts" | "--pages", folder: string): (() => Promise<string>) =>
  once(async () => {
    if (!existsSync(BUILDER)) return SITE
    await run(process.execPath, [BUILDER, part])
    return folder
  })

/**
 * The folders of the documentation. A package has them already. In a checkout they are built first, unless they are those
 * of its sources: the texts take two seconds and the pages about fifteen. The promises reject if that fails.
 */
export const site = { texts: built("--texts", TEXTS), pages: built("--pages", SITE) }
