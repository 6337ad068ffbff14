import { readFile } from "node:fs/promises"
import { refusedHosts } from "./loopbackOnly.mjs"

/*
 * Runs one driver with one task, and writes its outcome as the last line of its output. A driver exports `buy`, which
 * returns the response of the service, or the error that its client throws.
 */
const [driver, taskFile] = process.argv.slice(2)
const task = JSON.parse(await readFile(taskFile, "utf8"))

const run = async () => {
  try {
    const { buy } = await import(driver)
    const response = await buy(task)
    const { status, text } = response
    return { status, text: text.slice(0, 2_000), receipt: response.receipt ?? null }
  } catch (error) {
    const { cause, message, name } = error
    const detail = cause?.message
    return { error: `${name}: ${message}${detail ? ` (${detail})` : ""}`.slice(0, 2_000) }
  }
}
const outcome = await run()
process.stdout.write(`\n${JSON.stringify({ ...outcome, refusedHosts: [...refusedHosts] })}\n`, () => process.exit(0))
