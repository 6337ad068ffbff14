import { type Host, runProgram, type Sink } from "@agentos/node/command-line"
import { tmpdir } from "node:os"
import { COMMAND_TREE } from "../../src/command/Commands.ts"

/** The surroundings of a command. */
export interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>
  /** By default that of temporary files. */
  readonly cwd?: string
  /** The columns of a terminal; by default output goes through pipes. */
  readonly columns?: number | undefined
}

/**
 * Runs a command in this process, which takes a fraction of the processor time of a process of its own. Not for `start` and
 * `--env-file`, which read and change the environment of the process.
 */
export const runHere = async (argv: ReadonlyArray<string>, { columns, cwd = tmpdir(), env = {} }: Place = {}) => {
  const written = { stdout: "", stderr: "" }
  const sink = (name: keyof typeof written): Sink => ({
    write: (data) => void (written[name] += Buffer.from(data).toString()),
    isTerminal: columns !== undefined,
    columns,
    drained: () => Promise.resolve()
  })
  const host: Host = {
    argv,
    env,
    workingDirectory: cwd,
    homeDirectory: cwd,
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    stdinIsTerminal: false,
    readStdin: () => Promise.resolve(""),
    ask: () => Promise.reject(new Error("no terminal")),
    now: () => 0,
    sleep: () => Promise.resolve(),
    signal: new AbortController().signal
  }
  const exit = await runProgram(host, COMMAND_TREE)
  return { exit, ...written }
}
