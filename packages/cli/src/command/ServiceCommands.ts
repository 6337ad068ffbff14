import type { Answer } from "@agentos/client"
import { EXIT, Failure, plain, plainLine, shellWord, usageError } from "@agentos/node/command-line"
import { asStarted } from "../host/Host.ts"
import { shortAddress, timeColumn } from "../output/Wording.ts"
import type { Server, DataOf } from "../server/Server.ts"
import { defineCommand } from "./Command.ts"
import { connect } from "./Resources.ts"
import type { Context } from "../context/Context.ts"

const LINE_FEED = 10

const ACCESS: Readonly<Record<string, string>> = {
  none: "open",
  "x402-bootstrap": "start here",
  bearer: "token",
  unavailable: "-"
}

/** Returns how a service is called: without anything, with a payment that returns a token, or with a token. */
const accessOf = ({ authentication }: { readonly authentication: string }): string =>
  ACCESS[authentication] ?? authentication

const priceOf = ({ price }: { readonly price: { readonly amount: string; readonly asset: string } | null }): string =>
  price === null ? "free" : `${price.amount} ${price.asset}`

export const SERVICES_LIST = defineCommand(
  {
    name: "services list",
    summary: "List services and prices",
    description: "Needs no wallet and no token.",
    flags: [
      { name: "available", type: "boolean", summary: "Only services that this server offers." },
      { name: "paid", type: "boolean", summary: "Only paid services." }
    ],
    examples: [{ line: "agentctl services list --paid", does: "Browse the paid services" }],
    output: "rows",
    json: "{items: [service]}",
    exits: [9]
  },
  async (context, { flags }) => {
    const { client } = await connect(context)
    const { items } = await client.call("listServices")
    const shown = items.filter((item) => (!flags.available || item.available) && (!flags.paid || item.price !== null))
    context.output.table(
      { items: shown },
      shown,
      [
        { heading: "SERVICE", value: ({ serviceId }) => serviceId, whole: true },
        { heading: "PRICE", value: priceOf, whole: true },
        { heading: "ACCESS", value: accessOf, whole: true, drop: 1 },
        { heading: "OFFERED", value: ({ available }) => (available ? "yes" : "no"), whole: true, drop: 2 },
        { heading: "PURPOSE", value: ({ purpose }) => purpose }
      ],
      "No matching services."
    )
  }
)

const SERVICE_ARGUMENT = {
  name: "service",
  summary: "Id of a service.",
  presence: "required",
  completes: "service"
} as const

export const SERVICES_SHOW = defineCommand(
  {
    name: "services show",
    summary: "Show a service with its price, inputs and next steps",
    description: "Needs no wallet and no token.",
    arguments: [SERVICE_ARGUMENT],
    examples: [{ line: "agentctl services show email.mailbox.create", does: "The price and inputs of a mailbox" }],
    output: "record",
    json: "{service}",
    exits: [5, 9]
  },
  async (context, input) => {
    const { nextCommand } = await import("../server/Routes.ts")
    const { output } = context
    const { client } = await connect(context)
    const { service } = await client.call("getService", { params: { serviceId: input.arguments.service } })
    const inputs = service.inputs.map(
      ({ description, name, required }) =>
        `  ${plainLine(name)}${required ? " (required)" : ""}: ${plainLine(description)}\n`
    )
    output.data({ service }, () =>
      [
        output.recordText([
          ["Service", service.serviceId],
          ["Purpose", service.purpose],
          ["Price", priceOf(service)],
          ["Call", `${service.method} ${service.path}`],
          ["Access", accessOf(service)],
          ["Offered", service.available ? "yes" : "no"]
        ]),
        ...(inputs.length === 0 ? [] : [`\n${output.bold("INPUTS")}\n`, ...inputs]),
        `\n${output.bold("NEXT")}\n`,
        ...(service.price === null
          ? []
          : [
              `  ${asStarted(context.host, "agentctl quote")} ${plainLine(service.serviceId)}  # the current price, and whether the call would work\n`
            ]),
        ...service.nextActions.map(
          (next) => `  ${asStarted(context.host, plainLine(nextCommand(next)))}  # ${plainLine(next.why)}\n`
        )
      ].join("")
    )
  }
)

interface Field {
  readonly name: string
  /** The value of `NAME:=JSON`, or the text of `NAME=TEXT`, whose type the service declares. */
  readonly value: unknown
  readonly isText: boolean
}

const parseField = (field: string): Field => {
  const match = /^([A-Za-z][\w.-]*)(:?=)(.*)$/s.exec(field)
  if (match === null) throw usageError(`Invalid field "${field}". Write NAME=TEXT or NAME:=JSON.`)
  const [, name = "", sign, text = ""] = match
  if (sign === "=") return { name, value: text, isText: true }
  try {
    return { name, value: JSON.parse(text), isText: false }
  } catch {
    throw usageError(`Invalid JSON after := in "${field}".`)
  }
}

type Inputs = DataOf<"getService">["service"]["inputs"]

/** Converts the text of a field to the JSON type of its input. The server reports a text that does not fit. */
const typedValue = (type: string | undefined, text: unknown): unknown => {
  if (type === "boolean" && (text === "true" || text === "false")) return text === "true"
  if (type === "integer" && /^-?\d{1,15}$/.test(String(text))) return Number(text)
  return text
}

/** Returns the values of fields. Lists, booleans and numbers need no JSON: `to=a@b.example` twice is a list of two. */
const valuesOf = (fields: ReadonlyArray<Field>, inputs: Inputs): Readonly<Record<string, unknown>> => {
  const types = new Map(inputs.map(({ name, type }) => [name, type]))
  const values = new Map<string, unknown>()
  for (const { isText, name, value } of fields) {
    const before = values.get(name)
    const isItem = isText && types.get(name) === "array"
    if (before !== undefined && !isItem) throw usageError(`Field ${name} is given twice.`)
    if (isItem) values.set(name, [...(Array.isArray(before) ? before : []), value])
    else values.set(name, isText ? typedValue(types.get(name), value) : value)
  }
  return Object.fromEntries(values)
}

const FIELDS_ARGUMENT = {
  name: "fields",
  summary: "Fields of the request: NAME=TEXT or NAME:=JSON.",
  presence: "several"
} as const

const requirePaidService = async (client: Server, serviceId: string) => {
  const { service } = await client.call("getService", { params: { serviceId } })
  if (service.price !== null) return service
  throw new Failure({
    code: "FAILED",
    exit: EXIT.usage,
    message: service.available
      ? `${serviceId} is free and has no quote.`
      : `${serviceId} is not offered by this server.`,
    next: [`agentctl services show ${shellWord(serviceId)}`]
  })
}

/** Points a request with invalid inputs to the description of the service. */
const withService = (error: unknown, serviceId: string): unknown =>
  error instanceof Failure && error.parts.code === "INVALID_REQUEST" && error.parts.next?.length === 0
    ? error.with({ next: [`agentctl services show ${shellWord(serviceId)}`] })
    : error

const isoOf = (millis: number | null): string | null => (millis === null ? null : new Date(millis).toISOString())

export const QUOTE = defineCommand(
  {
    name: "quote",
    summary: "Show the price of a call without paying",
    description:
      "Sends the call without a payment and shows the payment challenge: amount, token, network and payee. Errors that would make the call fail appear now, before money moves.\nFields are NAME=TEXT, converted to the type that the service declares, or NAME:=JSON. A list is a field given several times.",
    arguments: [SERVICE_ARGUMENT, FIELDS_ARGUMENT],
    examples: [
      {
        line: "agentctl quote email.mailbox.create localPart=ada",
        does: "Check that an address is free, and its price"
      },
      {
        line: "agentctl quote email.message.send mailboxId=ID to=a@b.example subject=Hi text=Hello",
        does: "The price of a message"
      }
    ],
    output: "rows",
    json: "{serviceId, method, path, body, accepts: [{amount, baseUnits, asset, network, payTo, maxTimeoutSeconds, expiresAt}]}",
    exits: [4, 5, 6, 9]
  },
  async (context, input) => {
    const { unitsOf } = await import("@agentos/client")
    const fields = input.arguments.fields.map(parseField)
    const { client } = await connect(context)
    const { inputs, method, path, purpose, serviceId } = await requirePaidService(client, input.arguments.service)
    const body = valuesOf(fields, inputs)
    const options = await client
      .quote({ method, path, body: JSON.stringify(body) })
      .catch((error: unknown) => Promise.reject(withService(error, serviceId)))
    const accepts = options.map(({ asset, assetName, expiresAt, maxTimeoutSeconds, network, payTo, price }) => ({
      amount: price,
      baseUnits: String(unitsOf(price)),
      asset,
      assetName,
      network,
      payTo,
      maxTimeoutSeconds,
      expiresAt: isoOf(expiresAt)
    }))
    context.output.table(
      { serviceId, method, path, body, accepts },
      accepts,
      [
        { heading: "AMOUNT", value: ({ amount }) => amount, whole: true },
        { heading: "TOKEN", value: ({ assetName }) => assetName, whole: true },
        { heading: "NETWORK", value: ({ network }) => network, whole: true },
        { heading: "PAY TO", value: ({ payTo }) => payTo, shown: ({ payTo }) => shortAddress(payTo), whole: true },
        { heading: "CONTRACT", value: ({ asset }) => asset, shown: ({ asset }) => shortAddress(asset), whole: true },
        timeColumn("VALID UNTIL", ({ expiresAt }) => expiresAt)
      ],
      "The server offers no payment options."
    )
    context.output.note(`${purpose} Nothing was paid.`)
  }
)

/** Headers that would pay or carry a secret, which must not be on a command line. */
const REJECTED_HEADERS = new Set(["authorization", "payment-signature", "x-payment", "cookie"])
/** Response headers that are not shown. */
const HIDDEN_HEADERS = new Set(["payment-response", "set-cookie"])

const headersOf = (lines: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    lines.map((line) => {
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):\s*(.*)$/.exec(line)
      if (match === null) throw usageError(`--header takes NAME:VALUE, not "${line}".`)
      const [, name = "", value = ""] = match
      if (REJECTED_HEADERS.has(name.toLowerCase()))
        throw usageError(`${name} is not allowed on the command line, because it can contain a secret or a payment.`)
      return [name, value]
    })
  )

/** Returns the values of a query: text as it is, other values as JSON. */
const textsOf = (values: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)])
  )

const showHead = ({ output }: Context, answer: Answer): void => {
  const lines = [...answer.headers].flatMap(([name, value]) =>
    HIDDEN_HEADERS.has(name) ? [] : [`${name}: ${plain(value)}`]
  )
  output.warn([`HTTP ${answer.status}`, ...lines, ""].join("\n"))
}

export const API = defineCommand(
  {
    name: "api",
    summary: "Make an authenticated request to the API",
    description:
      "Prints the body of the response unchanged. Fields become the query of a GET or the JSON body of a POST, with the types that the service declares; --input sends a file instead. Never pays: a 402 response is printed and is a failure.",
    arguments: [
      { name: "method", summary: "HTTP method.", presence: "required", choices: ["GET", "POST"] },
      { name: "path", summary: "Path such as /api/v1/services.", presence: "required" },
      FIELDS_ARGUMENT
    ],
    flags: [
      {
        name: "input",
        type: "text",
        value: "FILE",
        summary: "Send this file as the body (- for standard input).",
        completes: "file"
      },
      {
        name: "header",
        short: "H",
        type: "list",
        value: "NAME:VALUE",
        summary: "Add a request header. Not for secrets."
      },
      {
        name: "include",
        short: "i",
        type: "boolean",
        summary: "Print the status and headers of the response on standard error."
      }
    ],
    examples: [
      { line: "agentctl api GET /api/v1/events limit:=5", does: "A GET with a query" },
      { line: "agentctl api POST /api/v1/events/list --input query.json", does: "A POST with a body from a file" }
    ],
    output: "text",
    json: "the body of the response",
    exits: [4, 5, 6, 7, 9]
  },
  async (context, { arguments: { fields: texts, method, path }, flags }) => {
    if (!/^\/[^\s#]*$/.test(path) || path.startsWith("//"))
      throw usageError(`PATH must begin with one slash, for example /api/v1/services, not "${path}".`)
    const fields = texts.map(parseField)
    if (flags.input !== undefined && (fields.length > 0 || method === "GET"))
      throw usageError("--input is the body of a POST and cannot be combined with fields.")
    const headers = headersOf(flags.header)
    const { readGiven } = await import("../file/PrivateFile.ts")
    const file = flags.input === undefined ? undefined : await readGiven(context.host, flags.input)
    const { queryOf } = await import("../server/Server.ts")
    const { apiFailure } = await import("../server/ApiFailure.ts")
    const { operationAt, ROUTES } = await import("../server/Routes.ts")
    const { baseUrl, client } = await connect(context)
    const operation = operationAt(method, path.split("?", 1)[0]!)
    const query = method === "GET" ? queryOf(textsOf(valuesOf(fields, []))) : ""
    const serviceId = operation === undefined ? null : ROUTES[operation].serviceId
    const isTyped = method === "POST" && serviceId !== null && fields.some(({ isText }) => isText)
    const inputs = isTyped ? (await client.call("getService", { params: { serviceId } })).service.inputs : []
    const body = file ?? (method === "POST" && fields.length > 0 ? JSON.stringify(valuesOf(fields, inputs)) : undefined)
    const answer = await client.send({
      method,
      path: path.includes("?") ? path + query.replace("?", "&") : path + query,
      body,
      headers,
      repeatable: method === "GET" || (operation !== undefined && ROUTES[operation].repeatable)
    })
    if (flags.include) showHead(context, answer)
    context.output.bytes(answer.bytes)
    if (answer.json !== undefined && answer.bytes.at(-1) !== LINE_FEED) context.output.text("\n")
    if (answer.status < 200 || answer.status >= 300) throw apiFailure(answer, baseUrl)
  }
)
