import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { Failure } from "./Failure.ts"

/** Asks on the terminal. A closed input or Ctrl-D cancels the command. */
export const ask = (
  question: string,
  options: { readonly hidden: boolean },
  interruption: AbortController
): Promise<string> =>
  new Promise((resolve, reject) => {
    // Discards the echo of a hidden answer.
    const discard = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({
      input: process.stdin,
      output: options.hidden ? discard : process.stderr,
      terminal: process.stdin.isTTY === true,
      // Printed again when readline redraws the line.
      prompt: question
    })
    let answered = false
    lines.once("line", (line) => {
      answered = true
      lines.close()
      resolve(line)
    })
    lines.once("SIGINT", () => {
      interruption.abort()
      lines.close()
    })
    lines.once("close", () => {
      if (options.hidden || !answered) process.stderr.write("\n")
      process.stdin.pause()
      if (!answered) reject(new Failure({ code: "CANCELLED", message: "Cancelled: no answer." }))
    })
    // The question comes after readline has taken over the terminal: before, the terminal echoes secrets.
    if (options.hidden) process.stderr.write(question)
    else lines.prompt()
  })
