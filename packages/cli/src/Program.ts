import { EXIT, type ExitCode, Failure, type ParsedLine, runProgram, shellWord } from "@agentos/node/command-line"
import { COMMAND_TREE } from "./command/Commands.ts"
import { inWordsOf } from "./output/InputNames.ts"
import { asStarted, type Host } from "./host/Host.ts"

/** Runs one command line and returns its exit code. Never rejects. */
export const run = async (host: Host): Promise<ExitCode> => {
  if (host.argv[0] === "__complete") {
    const { complete } = await import("./help/Complete.ts")
    await complete(host, COMMAND_TREE)
    return EXIT.ok
  }
  return runProgram(host, COMMAND_TREE, {
    explain: misunderstood,
    complete: (failure, line) => asTyped(withLogout(withLocation(withInputNames(failure, line), line), host), host)
  })
}

/** Only the envelope of a response is validated before use. */
const misunderstood = (error: unknown): Failure | undefined =>
  error instanceof TypeError
    ? new Failure({
        code: "UNEXPECTED_ANSWER",
        message: `This version of agentctl does not understand a response: ${error.message}.`,
        next: ["agentctl doctor"]
      })
    : undefined

/** Names the commands to run next as the user types them. */
const asTyped = (failure: Failure, host: Host): Failure => {
  const { next } = failure.parts
  return next === undefined ? failure : failure.with({ next: next.map((command) => asStarted(host, command)) })
}

/** AGENTOS_TOKEN takes precedence over a saved token, and `login` would read the same token again. */
const withLogout = (failure: Failure, { env }: Host): Failure => {
  const { next = [] } = failure.parts
  const isOverridden =
    next.some((command) => command.startsWith("agentctl login")) && (env["AGENTOS_TOKEN"] ?? "") !== ""
  return isOverridden ? failure.with({ next: ["unset AGENTOS_TOKEN", ...next] }) : failure
}

/** Programs that read JSON get the names of the API. */
const withInputNames = (failure: Failure, line: ParsedLine | undefined): Failure =>
  line?.command === undefined || line.globals["json"] === true ? failure : inWordsOf(failure, line.command)

/** Commands that need no profile and server: help, and a payment, whose journal entry names both. */
const NEEDS_NO_LOCATION = /--help$|^agentctl payments (?:resume|show) [^-]/

/** Repeats the --profile and --base-url of the command line in the commands to run next. */
const withLocation = (failure: Failure, line: ParsedLine | undefined): Failure => {
  const { globals } = line ?? {}
  const flags = (["profile", "base-url"] as const).flatMap((name) =>
    globals?.[name] === undefined ? [] : [{ name, word: shellWord(String(globals[name])) }]
  )
  const { next = [] } = failure.parts
  const located = (command: string): string =>
    flags.reduce((text, { name, word }) => (text.includes(`--${name} `) ? text : `${text} --${name} ${word}`), command)
  const commands = next.map((command) =>
    command.startsWith("agentctl ") && !NEEDS_NO_LOCATION.test(command) ? located(command) : command
  )
  return flags.length === 0 ? failure : failure.with({ next: commands })
}
