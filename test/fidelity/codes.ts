import { spawnSync } from "node:child_process"
import { createRequire } from "node:module"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { LabeledMail } from "./codes/LabeledMail.ts"
import { ownScore, RECORDS, type Score, scoreOf } from "./codes/Score.ts"
import type { Subject } from "./Subject.ts"

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

/** How codes and links are read: a labeled set, beside libraries that find codes in text. */
export const codes: Subject = {
  heading: "Codes and links",
  summary: "finds one-time codes and confirmation links in a labeled set, beside two libraries",
  measure: async (folder) => {
    const libraries = await installed(folder)
    const languages = new Set(RECORDS.map(({ language }) => language)).size
    const withCode = RECORDS.filter(({ code }) => code !== null).length
    const withLink = RECORDS.filter(({ link }) => link !== null).length
    const [code, link] = [ownScore("code"), ownScore("link")]
    const isMissed = [code, link].some(({ right, wrong }) => wrong.length > 0 || right < RIGHT_MIN * RECORDS.length)
    const section = [
      `${RECORDS.length} labeled mails in ${languages} languages (test/fidelity/codes): ${withCode} with a code, ${withLink} with a link.`,
      "The forms are those of real services; the texts are written anew. Missed is nothing where there is a code; wrong is",
      "another one, or one in a mail without a code. `test/fidelity/codes.test.ts` holds the goals: 97 % right, none wrong.",
      "",
      "| reader | right | | missed | wrong |",
      "| --- | ---: | ---: | ---: | ---: |",
      row("AgentOS, codes", code),
      ...Object.entries(libraries).map(([name, read]) => {
        const plain = ({ subject, text }: LabeledMail) =>
          read(`${subject}\n${text ?? ""}`)?.replaceAll(/[ -]/g, "") || undefined
        return row(`${name} ${LIBRARIES[name as keyof typeof LIBRARIES]}, codes`, scoreOf(RECORDS, "code", plain))
      }),
      row("AgentOS, links", link),
      "",
      "Right includes rightly nothing. The libraries were made for short messages: they get the subject and the text that the service",
      "derives from HTML. The rules were adjusted to this set, so its figures say less about new mail. When its last two parts",
      "(`More.ts`), many of them written to mislead, were read for the first time, 89 of 104 and 66 of 72 codes were right, 8 and 5",
      "missed, 7 and 1 wrong. Missed on purpose: a Korean sentence that names the code after its end, and a link with the text",
      '"Sign in" behind an address that only counts clicks.'
    ].join("\n")
    const lines = [code, link].flatMap(({ missed, wrong }) => [...wrong, ...missed])
    return { section, faults: isMissed ? lines : [] }
  }
}
