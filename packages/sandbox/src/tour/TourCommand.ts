import { describeDataDirectory } from "../supervisor/DataDirectory.ts"
import { readSandboxFile } from "../supervisor/SandboxFile.ts"
import { readTourOptions, tourHelp } from "../supervisor/StartOptions.ts"
import { takeTour } from "./Tour.ts"
import { TourFailed } from "./TourStep.ts"

/**
 * The command `tour`: takes the tour through the sandbox of a data directory. Answers the exit code: 1 when the tour
 * fails, 2 when the command line is wrong.
 */
export const tourCommand = async (args: ReadonlyArray<string>): Promise<number> => {
  const commandLine = readTourOptions(args)
  switch (commandLine._tag) {
    case "Help":
      console.log(tourHelp)
      return 0
    case "Misused":
      console.error(`${commandLine.message}\n\n${tourHelp}`)
      return 2
    case "Run":
      return run(commandLine.options.dataDir)
  }
}

const run = async (dataDir: string): Promise<number> => {
  const { sandboxFile } = describeDataDirectory(dataDir)
  const sandbox = await readSandboxFile(sandboxFile)
  if (sandbox === undefined) {
    console.error(`No sandbox runs on ${dataDir}. Start one: npx -y pnpm@12 start`)
    return 1
  }
  const startedAt = performance.now()
  console.log(
    "\nThe tour: an agent buys a mailbox, receives mail and answers it; buys a telephone number, calls and is called.\n"
  )
  try {
    await takeTour(sandbox, (line) => console.log(line))
  } catch (error) {
    console.error(error instanceof TourFailed ? `\n${error.message}` : error)
    return 1
  }
  console.log(`\nThe tour took ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.`)
  return 0
}
