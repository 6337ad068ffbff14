import { describeDataDirectory } from "./supervisor/DataDirectory.ts"
import { readSandboxFile } from "./supervisor/SandboxFile.ts"
import { readTourOptions, tourHelp } from "./supervisor/StartOptions.ts"
import { takeTour, TourFailed } from "./tour/Tour.ts"

/** Takes the tour through the sandbox of a data directory. Exit code 1 when it fails, 2 for a wrong command line. */
const run = async (dataDir: string): Promise<number> => {
  const { sandboxFile } = describeDataDirectory(dataDir)
  const sandbox = await readSandboxFile(sandboxFile)
  if (sandbox === undefined) {
    console.error(`No sandbox runs on ${dataDir}. Start one: npx -y pnpm@12 start`)
    return 1
  }
  const startedAt = performance.now()
  console.log("\nThe tour: an agent buys a mailbox, receives mail and answers it.\n")
  try {
    await takeTour(sandbox, (line) => console.log(line))
  } catch (error) {
    console.error(error instanceof TourFailed ? `\n${error.message}` : error)
    return 1
  }
  console.log(`\nThe tour took ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
  return 0
}

const commandLine = readTourOptions(process.argv.slice(2))
if (commandLine._tag === "Help") {
  console.log(tourHelp)
} else if (commandLine._tag === "Misused") {
  console.error(`${commandLine.message}\n\n${tourHelp}`)
  process.exitCode = 2
} else {
  process.exit(await run(commandLine.options.dataDir))
}
