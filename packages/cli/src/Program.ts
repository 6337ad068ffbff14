import type { Context } from "./command/Command.ts"
import { COMMAND_TREE } from "./command/Commands.ts"
import { EXIT, type ExitCode, Failure, messageOf } from "./failure/Failure.ts"
import { report } from "./failure/Report.ts"
import type { Host } from "./host/Host.ts"
import { Output, wantsColor } from "./output/Output.ts"
import { shellWord } from "./output/Text.ts"
import { parse, type ParsedLine } from "./parse/Parser.ts"
import { VERSION } from "./Version.ts"

/** The output before the command line is parsed, so that a usage error is printed as JSON if --json is given. */
const initialOutput = (host: Host): Output =>
  new Output(host, {
    json: host.argv.includes("--json"),
    quiet: false,
    color: wantsColor(host, host.argv.includes("--no-color"))
  })

/** Reports that standard output cannot be written, for example because the disk is full. */
export const reportBrokenOutput = (host: Host, error: Error): ExitCode => {
  const failure = new Failure({ code: "FAILED", message: `Cannot write to standard output (${error.message}).` })
  report(failure, initialOutput(host), host)
  return failure.exit
}

/** Runs one command line and returns its exit code. Never rejects. */
export const run = async (host: Host): Promise<ExitCode> => {
  let output = initialOutput(host)
  let line: ParsedLine | undefined
  try {
    if (host.argv[0] === "__complete") {
      const { complete } = await import("./help/Complete.ts")
      await complete(host, COMMAND_TREE)
      return EXIT.ok
    }
    line = parse(host.argv, COMMAND_TREE)
    const { globals } = line
    output = new Output(host, {
      json: globals.json,
      quiet: globals.quiet,
      color: wantsColor(host, globals["no-color"])
    })
    await perform({ host, output, globals }, line)
    return EXIT.ok
  } catch (error) {
    const failure = withLocation(withHelp(failureOf(error, host), line), line)
    report(failure, output, host)
    return failure.exit
  }
}

const perform = async (context: Context, { command, globals, input, words }: ParsedLine): Promise<void> => {
  const { output } = context
  if (globals.version) return output.text(`agentctl ${VERSION}\n`)
  if (command === undefined || input === undefined) {
    const { helpFor } = await import("./help/HelpText.ts")
    return output.text(helpFor(COMMAND_TREE, words, output.helpStyle()))
  }
  await command.run(context, input, COMMAND_TREE)
}

/** A usage error without a next step points to the help of the command. */
const withHelp = (failure: Failure, line: ParsedLine | undefined): Failure => {
  const { code, next = [] } = failure.parts
  if (code !== "USAGE" || next.length > 0 || line?.command === undefined) return failure
  return new Failure({ ...failure.parts, code, next: [`agentctl ${line.command.name} --help`] })
}

/** Commands that need no profile and server: help, and a payment, whose journal entry names both. */
const NEEDS_NO_LOCATION = /--help$|^agentctl payments (?:resume|show) [^-]/

/** Repeats the --profile and --base-url of the command line in the commands to run next. */
const withLocation = (failure: Failure, line: ParsedLine | undefined): Failure => {
  const { globals } = line ?? {}
  const flags = (["profile", "base-url"] as const).flatMap((name) =>
    globals?.[name] === undefined ? [] : [{ name, word: shellWord(globals[name]) }]
  )
  const { next = [] } = failure.parts
  const located = (command: string): string =>
    flags.reduce((text, { name, word }) => (text.includes(`--${name} `) ? text : `${text} --${name} ${word}`), command)
  const commands = next.map((command) =>
    command.startsWith("agentctl ") && !NEEDS_NO_LOCATION.test(command) ? located(command) : command
  )
  return flags.length === 0 ? failure : new Failure({ ...failure.parts, exit: failure.exit, next: commands })
}

const failureOf = (error: unknown, host: Host): Failure => {
  // Keep a failure that says more about the interruption, such as the state of a payment.
  const isSpecific = error instanceof Failure && (error.exit === EXIT.paymentUnknown || error.exit === EXIT.interrupted)
  if (host.signal.aborted && !isSpecific) return new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  if (error instanceof Failure) return error
  // Only the envelope of a response is validated before use.
  if (error instanceof TypeError)
    return new Failure({
      code: "UNEXPECTED_ANSWER",
      message: `This version of agentctl does not understand a response: ${error.message}.`,
      next: ["agentctl doctor"]
    })
  return new Failure({ code: "FAILED", message: messageOf(error) })
}
