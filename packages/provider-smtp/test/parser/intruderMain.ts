/** Replaces the process that reads mail, tries the attacks of a hostile mail, and replies with the results. */
import { spawnSync } from "node:child_process"
import { closeSync, openSync, readdirSync, readFileSync } from "node:fs"
import { Worker } from "node:worker_threads"
import { receiveMails } from "../../src/parser/MailPipe.ts"
import type { ParserReply } from "../../src/parser/ParserMessage.ts"

const outcomeOf = (attempt: () => unknown): string => {
  try {
    attempt()
    return "done"
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error)
  }
}

const outcomes = (): Readonly<Record<string, string>> => ({
  "read a file": outcomeOf(() => readFileSync("/etc/hostname")),
  "list the modules' project": outcomeOf(() => readdirSync(new URL("../../../..", import.meta.url))),
  "read the environment of its parent": outcomeOf(() => readFileSync(`/proc/${process.ppid}/environ`)),
  "write a file": outcomeOf(() => closeSync(openSync(import.meta.filename, "r+"))),
  "run a program": outcomeOf(() => spawnSync(process.execPath, ["--version"])),
  "start a thread": outcomeOf(() => void new Worker("", { eval: true }).terminate()),
  "load an addon": outcomeOf(() => process.dlopen({ exports: {} }, "missing.node")),
  "read the environment": Object.keys(process.env).join(" ")
})

const reply = (message: ParserReply): void => void process.send?.(message)

process.once("disconnect", () => process.exit())
receiveMails((id) => reply({ _tag: "Answer", id, answer: { _tag: "Unreadable", message: JSON.stringify(outcomes()) } }))
reply({ _tag: "Ready" })
