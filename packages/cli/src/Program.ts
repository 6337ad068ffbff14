import type { Context } from "./command/Handler.ts"
import { EXIT, type ExitCode } from "./failure/ExitCode.ts"
import { Failure } from "./failure/Failure.ts"
import { report } from "./failure/Report.ts"
import type { Host } from "./host/Host.ts"
import { Output, wantsColor } from "./output/Output.ts"
import { shellWord } from "./output/ShellWord.ts"
import { parse, type ParsedLine } from "./parse/Parser.ts"
import { VERSION } from "./Version.ts"

/** How to say things before the line is understood, so that a wrong one is answered in the way that was asked for. */
const earlyOutput = (host: Host): Output =>
  new Output(host, {
    json: host.argv.includes("--json"),
    quiet: false,
    color: wantsColor(host, host.argv.includes("--no-color"))
  })

/** Says that standard output can't be written, as where its disk is full; gives the exit code for it. */
export const failHavingNoOutput = (host: Host, error: Error): ExitCode => {
  const failure = new Failure({ code: "FAILED", message: `Standard output can't be written (${error.message}).` })
  report(failure, earlyOutput(host), host)
  return failure.exit
}

/** Runs one command line to its end, whatever that is. Never rejects. */
export const run = async (host: Host): Promise<ExitCode> => {
  let output = earlyOutput(host)
  let line: ParsedLine | undefined
  try {
    if (host.argv[0] === "__complete") {
      const { complete } = await import("./help/Complete.ts")
      await complete(host)
      return EXIT.ok
    }
    line = parse(host.argv)
    const { globals } = line
    output = new Output(host, {
      json: globals.json,
      quiet: globals.quiet,
      color: wantsColor(host, globals["no-color"])
    })
    await perform({ host, output, globals }, line)
    return EXIT.ok
  } catch (error) {
    const failure = inThisPlace(withHelp(failureOf(error, host), line), line)
    report(failure, output, host)
    return failure.exit
  }
}

const perform = async (context: Context, { command, globals, input, words }: ParsedLine): Promise<void> => {
  const { output } = context
  if (globals.version) return output.text(`agentctl ${VERSION}\n`)
  if (command === undefined || input === undefined) {
    const { helpFor } = await import("./help/HelpFor.ts")
    return output.text(helpFor(words, output.helpStyle()))
  }
  const { loadHandler } = await import("./Handlers.ts")
  const handler = await loadHandler(command.name)
  // The parser has read the input by this very command's description.
  await handler.run(context, input as never)
}

/** Wrong usage that names no next step leads to the command's help. */
const withHelp = (failure: Failure, line: ParsedLine | undefined): Failure => {
  const { code, next = [] } = failure.parts
  if (code !== "USAGE" || next.length > 0 || line?.command === undefined) return failure
  return new Failure({ ...failure.parts, code, next: [`agentctl ${line.command.name} --help`] })
}

/** A command to be run next that needs no setting: help, and a payment, whose file names profile and server. */
const STANDS_ALONE = /--help$|^agentctl payments (?:resume|show) [^-]/

/** What is to be run next concerns the profile and the server that the line has named. */
const inThisPlace = (failure: Failure, line: ParsedLine | undefined): Failure => {
  const { globals } = line ?? {}
  const flags = (["profile", "base-url"] as const).flatMap((name) =>
    globals?.[name] === undefined ? [] : [{ name, word: shellWord(globals[name]) }]
  )
  const { next = [] } = failure.parts
  const place = (command: string): string =>
    flags.reduce((text, { name, word }) => (text.includes(`--${name} `) ? text : `${text} --${name} ${word}`), command)
  const placed = next.map((command) =>
    command.startsWith("agentctl ") && !STANDS_ALONE.test(command) ? place(command) : command
  )
  return flags.length === 0 ? failure : new Failure({ ...failure.parts, exit: failure.exit, next: placed })
}

const failureOf = (error: unknown, host: Host): Failure => {
  // What says more of an interruption, as what became of the money, says it.
  const isSaid = error instanceof Failure && (error.exit === EXIT.paymentUnknown || error.exit === EXIT.interrupted)
  if (host.signal.aborted && !isSaid) return new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  if (error instanceof Failure) return error
  // Only the envelope of an answer is looked at before it is used.
  if (error instanceof TypeError)
    return new Failure({
      code: "UNEXPECTED_ANSWER",
      message: `Something came that this version of agentctl does not understand: ${error.message}.`,
      next: ["agentctl doctor"]
    })
  const message = error instanceof Error ? error.message : String(error)
  return new Failure({ code: "FAILED", message })
}
