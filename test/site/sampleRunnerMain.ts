/** Imports the program that each line of standard input names, in turn, and reports its end as a line. */
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"

for await (const line of createInterface({ input: process.stdin })) {
  const { environment, file } = JSON.parse(line) as {
    readonly file: string
    readonly environment: Readonly<Record<string, string>>
  }
  Object.assign(process.env, environment)
  try {
    await import(pathToFileURL(file).href)
    process.stdout.write(`\nended ${file}\n`)
  } catch (error) {
    process.stdout.write(`\nfailed ${file} ${JSON.stringify(String((error as Error).stack))}\n`)
  }
}
