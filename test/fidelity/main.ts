import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { bounces } from "./bounces.ts"
import { codes } from "./codes.ts"
import { mail } from "./mail.ts"
import { replies } from "./replies.ts"
import type { Subject } from "./Subject.ts"

const SUBJECTS: Readonly<Record<string, Subject>> = { mail, bounces, replies, codes }

const names = Object.keys(SUBJECTS)
const help = `Usage: npx -y pnpm@12 fidelity [SUBJECT...]

Compares how mail is read with other libraries, on public data, and writes the sections of docs/mail-fidelity.md. Installs the
data and the libraries in a temporary folder. Exits with 1 if a subject misses its goal; its faults are printed.

${Object.entries(SUBJECTS)
  .map(([name, { summary }]) => `  ${name.padEnd(10)}${summary}`)
  .join("\n")}`

const DOCUMENT = join(import.meta.dirname, "../../docs/mail-fidelity.md")

/** Replaces the section under a heading of the second level, or appends it. */
const withSection = (document: string, heading: string, section: string): string => {
  const text = `## ${heading}\n\n${section.trim()}\n`
  const start = document.indexOf(`## ${heading}\n`)
  if (start < 0) return `${document.trimEnd()}\n\n${text}`
  const next = document.indexOf("\n## ", start)
  return `${document.slice(0, start)}${text}${next < 0 ? "" : document.slice(next)}`
}

const { positionals, values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  allowPositionals: true,
  options: { help: { type: "boolean", short: "h", default: false } }
})
const unknown = positionals.filter((name) => !names.includes(name))
if (values.help) console.log(help)
else if (unknown.length > 0) {
  console.error(`Unknown subject ${unknown.join(", ")}. Subjects: ${names.join(", ")}.`)
  process.exitCode = 2
} else {
  for (const name of positionals.length === 0 ? names : positionals) {
    const { heading, measure } = SUBJECTS[name]!
    const directory = await mkdtemp(join(tmpdir(), "agentos-fidelity-"))
    try {
      const { faults, section } = await measure(directory)
      await writeFile(DOCUMENT, withSection(await readFile(DOCUMENT, "utf8"), heading, section))
      console.log(`${section.trim()}\n`)
      for (const fault of faults) console.error(fault)
      if (faults.length > 0) process.exitCode = 1
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  }
}
