import { resolve } from "node:path"
import type { Context } from "../command/Handler.ts"
import { Failure } from "../failure/Failure.ts"
import { readIfAny, requirePrivate } from "../file/PrivateFile.ts"

const firstLine = (text: string): string => text.split(/\r?\n/, 1)[0]!

const MISSING =
  "A password is needed: AGENTOS_PASSWORD, --password-file FILE (- for standard input), or a terminal to ask on."

/** What is asked about a password. */
export interface PasswordRequest {
  readonly file: string | undefined
  /** What it opens, for the prompt. */
  readonly what: string
  /** A new one is asked for twice, and may not be empty. */
  readonly isNew: boolean
}

const given = async ({ host }: Context, file: string | undefined): Promise<string | undefined> => {
  const path = file ?? host.env["AGENTOS_PASSWORD_FILE"]
  // A flag is stronger than the environment, whichever variable that is.
  if (file === undefined && host.env["AGENTOS_PASSWORD"] !== undefined) return host.env["AGENTOS_PASSWORD"]
  if (path === undefined || path === "") return undefined
  if (path === "-") return firstLine(await host.readStdin())
  const whole = resolve(host.workingDirectory, path)
  const text = await readIfAny(whole)
  if (text === undefined) throw new Failure({ code: "NOT_FOUND", message: `There is no password file ${path}.` })
  await requirePrivate(whole)
  return firstLine(text)
}

/** The password of a keystore: --password-file, AGENTOS_PASSWORD, AGENTOS_PASSWORD_FILE, or asked for. */
export const passwordFor = async (context: Context, { file, isNew, what }: PasswordRequest): Promise<string> => {
  const { host } = context
  const known = await given(context, file)
  if (known === undefined && !host.stdinIsTerminal) throw new Failure({ code: "USAGE", message: MISSING })
  const password = known ?? (await host.ask(`Password for ${what}: `, { hidden: true }))
  if (isNew && password === "")
    throw new Failure({ code: "USAGE", message: "The password is empty. For a file without one, use --plain." })
  if (isNew && known === undefined && (await host.ask("Again: ", { hidden: true })) !== password)
    throw new Failure({ code: "USAGE", message: "The two passwords differ. Nothing was written." })
  return password
}
