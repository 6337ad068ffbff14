import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { LabeledMail } from "./codes/LabeledMail.ts"
import { ownScore, RECORDS, type Score, scoreOf } from "./codes/Score.ts"

/*
 * One-time codes and confirmation links of the labeled set, beside two public libraries that find codes in text. They get the
 * subject and the text, because they read no HTML, and a code counts as theirs however they group it.
 */
const LIBRARIES = { "parse-otp-message": "1.0.2", "otp-message-extractor": "0.1.1" } as const

const RIGHT_MIN = 0.97

/** Installs the libraries and returns how each reads a code from a text. */
const installed = async (folder: string) => {
  const names = Object.entries(LIBRARIES).map(([name, version]) => `${name}@${version}`)
  const options = ["--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", ...names]
  const { status, stderr } = spawnSync("npm", ["install", ...options], { encoding: "utf8" })
  if (status !== 0) throw new Error(`npm install failed: ${stderr}`)
  const modules = join(folder, "node_modules")
  const load = createRequire(import.meta.url)
  const parse = load(join(modules, "parse-otp-message")) as (text: string) => { readonly code?: string } | undefined
  const entry = pathToFileURL(join(modules, "otp-message-extractor/src/index.js")).href
  const { extractOTP } = (await import(entry)) as {
    readonly extractOTP: (text: string) => { readonly code: string } | null
  }
  return {
    "parse-otp-message": (text: string) => parse(text)?.code,
    "otp-message-extractor": (text: string) => extractOTP(text)?.code
  }
}

const row = (name: string, { missed, right, wrong }: Score): string => {
  const percent = ((100 * right) / RECORDS.length).toFixed(1)
  return `| ${name} | ${right} | ${percent} % | ${missed.length} | ${wrong.length} |`
}

export const measure = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), "fidelity-codes-"))
  try {
    const libraries = await installed(folder)
    const languages = new Set(RECORDS.map(({ language }) => language)).size
    const codes = RECORDS.filter(({ code }) => code !== null).length
    const links = RECORDS.filter(({ link }) => link !== null).length
    const [code, link] = [ownScore("code"), ownScore("link")]
    console.log(
      [
        `${RECORDS.length} mails in ${languages} languages: ${codes} with a code, ${RECORDS.length - codes} without, ${links} with a link.`,
        "",
        "| reader | right | | missed | wrong |",
        "| --- | ---: | ---: | ---: | ---: |",
        row("AgentOS, codes", code),
        ...Object.entries(libraries).map(([name, read]) => {
          const plain = ({ subject, text }: LabeledMail) =>
            read(`${subject}\n${text ?? ""}`)?.replaceAll(/[ -]/g, "") || undefined
          return row(`${name} ${LIBRARIES[name as keyof typeof LIBRARIES]}, codes`, scoreOf(RECORDS, "code", plain))
        }),
        row("AgentOS, links", link)
      ].join("\n")
    )
    for (const line of [code, link].flatMap(({ missed, wrong }) => [...missed, ...wrong])) console.log(`- ${line}`)
    return [code, link].every(({ right, wrong }) => wrong.length === 0 && right >= RIGHT_MIN * RECORDS.length)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
