import { resolve } from "node:path"
import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { API } from "../command/ToolCommands.ts"
import { Failure } from "../failure/Failure.ts"
import { readIfAny } from "../file/PrivateFile.ts"
import { plain } from "../output/Plain.ts"
import { usage } from "../parse/Parser.ts"
import { queryOf } from "../server/ApiClient.ts"
import { apiFailure } from "../server/ApiFailure.ts"
import { connect } from "../server/Connection.ts"
import type { Answer } from "../server/Exchange.ts"
import { readFields } from "../server/Fields.ts"
import { operationAt, ROUTES } from "../server/Routes.ts"

const WORDS = ["api"]
/** Headers that would pay, or hold a secret, and so must not be on a command line. */
const REFUSED = new Set(["authorization", "payment-signature", "x-payment", "cookie"])
/** Headers of an answer that hold secrets or nothing of interest. */
const SECRET = new Set(["payment-response", "set-cookie"])

const headersOf = (lines: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    lines.map((line) => {
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line)
      if (match === null) throw usage(`--header takes NAME:VALUE; not "${line}".`, WORDS)
      const [, name = "", value = ""] = match
      if (REFUSED.has(name.toLowerCase())) throw usage(`${name} is not given on a command line.`, WORDS)
      return [name, value]
    })
  )

const bodyFrom = async ({ host }: Context, file: string): Promise<string> => {
  if (file === "-") return host.readStdin()
  const text = await readIfAny(resolve(host.workingDirectory, file))
  if (text !== undefined) return text
  throw new Failure({ code: "NOT_FOUND", message: `There is no file ${file}.` })
}

const queryFields = (fields: Readonly<Record<string, unknown>>): string =>
  queryOf(
    Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
    )
  )

const showHead = ({ output }: Context, answer: Answer): void => {
  const lines = [...answer.headers].flatMap(([name, value]) => (SECRET.has(name) ? [] : [`${name}: ${plain(value)}`]))
  output.warn([`HTTP ${answer.status}`, ...lines, ""].join("\n"))
}

export const run = async (context: Context, input: InputOf<typeof API>): Promise<void> => {
  const { flags } = input
  const { method, path } = input.arguments
  if (!/^\/[^\s#]*$/.test(path) || path.startsWith("//"))
    throw usage(`PATH begins with one slash, as /api/v1/services; not "${path}".`, WORDS)
  const fields = readFields(input.arguments.fields)
  const hasFields = input.arguments.fields.length > 0
  if (flags.input !== undefined && (hasFields || method === "GET"))
    throw usage("--input is the body of a POST, and goes without fields.", WORDS)
  const headers = headersOf(flags.header)
  const body =
    flags.input !== undefined
      ? await bodyFrom(context, flags.input)
      : method === "POST" && hasFields
        ? JSON.stringify(fields)
        : undefined
  const { baseUrl, client } = await connect(context)
  const operation = operationAt(method, path.split("?", 1)[0]!)
  const query = method === "GET" ? queryFields(fields) : ""
  const answer = await client.send({
    method,
    path: path.includes("?") ? path + query.replace("?", "&") : path + query,
    body,
    headers,
    repeatable: method === "GET" || (operation !== undefined && ROUTES[operation].repeatable)
  })
  if (flags.include) showHead(context, answer)
  const text = context.host.stdout.isTerminal ? plain(answer.text) : answer.text
  context.output.text(text.endsWith("\n") || text === "" ? text : `${text}\n`)
  if (answer.status < 200 || answer.status >= 300) throw apiFailure(answer, baseUrl)
}
