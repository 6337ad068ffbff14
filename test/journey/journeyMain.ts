import { parseArgs } from "node:util"
import { type Journey, walkJourneys } from "./Journeys.ts"

const help = `Usage: npx -y pnpm@12 journeys [--files] [--json]

Counts the source files and functions that the server enters for a purchase, a list, a mail, an acknowledgement and a
call. Starts a sandbox of its own, walks each journey twice, and counts the second time.

  --files    also print each function: its file and line, its name, its calls
  --json     print everything as JSON instead`

const { values } = parseArgs({
  args: process.argv.slice(process.argv[2] === "--" ? 3 : 2),
  options: {
    files: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false }
  }
})
const say = (line: string) => void process.stdout.write(`${line}\n`)

const rowOf = ({ entered, name }: Journey): string => {
  const files = new Set(entered.map(({ file }) => file)).size
  const calls = entered.reduce((sum, entry) => sum + entry.calls, 0)
  return `| ${name} | ${files} | ${entered.length} | ${calls} |`
}

if (values.help) say(help)
else {
  const journeys = await walkJourneys()
  if (values.json) say(JSON.stringify(journeys, null, 2))
  else {
    say("| journey | files | functions | calls |\n| --- | --- | --- | --- |")
    for (const journey of journeys) say(rowOf(journey))
    if (values.files)
      for (const { entered, name } of journeys) {
        say(`\n${name}:`)
        for (const { calls, file, line, name: called } of entered)
          say(`  ${file}:${line} ${called || "(anonymous)"} ${calls}`)
      }
  }
}
