import type { CommandTree } from "./CommandTree.ts"
import { EXIT, type ExitCode, Failure, messageOf } from "./Failure.ts"
import { helpFor } from "./HelpText.ts"
import type { Host } from "./Host.ts"
import { Output, wantsColor } from "./Output.ts"
import { parse, type ParsedLine } from "./Parser.ts"
import { report } from "./Report.ts"

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

/** Additions of a program to the report of a failure. */
export interface FailureRules {
  /** Describes an error that is not a `Failure`; undefined if its message says enough. */
  readonly explain?: (error: unknown) => Failure | undefined
  /** Completes a failure from the command line. */
  readonly complete?: (failure: Failure, line: ParsedLine | undefined) => Failure
}

/** Runs one command line of a program and returns its exit code. Never rejects. */
export const runProgram = async (host: Host, tree: CommandTree, rules: FailureRules = {}): Promise<ExitCode> => {
  let output = initialOutput(host)
  let line: ParsedLine | undefined
  try {
    line = parse(host.argv, tree)
    const { command, globals, input, words } = line
    output = new Output(host, {
      json: globals["json"] === true,
      quiet: globals["quiet"] === true,
      color: wantsColor(host, globals["no-color"] === true)
    })
    if (globals["version"] === true) output.text(`${tree.program.name} ${tree.program.version}\n`)
    else if (command === undefined || input === undefined) output.text(helpFor(tree, words, output.helpStyle()))
    else return (await command.run({ host, output, globals }, input, tree)) ?? EXIT.ok
    return EXIT.ok
  } catch (error) {
    const { complete = (failure) => failure } = rules
    const failure = complete(withHelp(failureOf(error, host, rules), tree, line), line)
    report(failure, output, host)
    return failure.exit
  }
}

/** A usage error without a next step points to the help of the command. */
const withHelp = (failure: Failure, tree: CommandTree, line: ParsedLine | undefined): Failure => {
  const { code, next = [] } = failure.parts
  if (code !== "USAGE" || next.length > 0 || line?.command === undefined) return failure
  return failure.with({ next: [`${tree.program.name} ${line.command.name} --help`] })
}

const failureOf = (error: unknown, host: Host, { explain }: FailureRules): Failure => {
  // Keep a failure that says more about the interruption, such as the state of a payment.
  const isSpecific = error instanceof Failure && (error.exit === EXIT.paymentUnknown || error.exit === EXIT.interrupted)
  if (host.signal.aborted && !isSpecific) return new Failure({ code: "INTERRUPTED", message: "Interrupted." })
  if (error instanceof Failure) return error
  return explain?.(error) ?? new Failure({ code: "FAILED", message: messageOf(error) })
}
