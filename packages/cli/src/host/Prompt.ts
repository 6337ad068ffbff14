import { createInterface } from "node:readline"
import { Writable } from "node:stream"
import { Failure } from "../failure/Failure.ts"

/** Asks on the terminal. A closed input or Ctrl-D is no answer, and cancels. */
export const ask = (
  question: string,
  options: { readonly hidden: boolean },
  interruption: AbortController
): Promise<string> =>
  new Promise((resolve, reject) => {
    // What readline echoes goes nowhere where the answer is a secret.
    const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
    const lines = createInterface({
      input: process.stdin,
      output: options.hidden ? nowhere : process.stderr,
      terminal: process.stdin.isTTY === true,
      // What it begins the line with when it draws it anew.
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
      if (!answered) reject(new Failure({ code: "CANCELLED", message: "No answer was given." }))
    })
    // Only now: until the terminal is readline's, it shows what is typed, secrets too.
    if (options.hidden) process.stderr.write(question)
    else lines.prompt()
  })
