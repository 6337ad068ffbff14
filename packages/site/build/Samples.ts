import { OPERATIONS } from "@agentos/api"
import { type Documented, exampleOf, isObject, type Json } from "./Contract.ts"
import { ORIGIN } from "./Page.ts"

/** The input of a sample, by the place of each value. */
interface SampleInput {
  readonly path: Values
  readonly query: Values
  /** Undefined for a request without a body. */
  readonly body: Values | undefined
}

type Values = Readonly<Record<string, Json>>

const valuesOf = (value: Json): Values => (isObject(value) ? value : {})

/** Returns the input that the samples of an operation show: its example. */
export const sampleInput = ({ entry, operation }: Documented): SampleInput => {
  const { params, query } = OPERATIONS[entry.operationId].example ?? {}
  return {
    path: valuesOf(params),
    query: valuesOf(query),
    body: operation["requestBody"] === undefined ? undefined : valuesOf(exampleOf(operation["requestBody"]))
  }
}

const urlOf = ({ entry }: Documented, { path, query }: SampleInput): string => {
  const filled = entry.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(path[name])))
  const search = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])
  ).toString()
  return `${ORIGIN}${filled}${search === "" ? "" : `?${search}`}`
}

const needsToken = ({ entry }: Documented): boolean => entry.authentication === "bearer"
const signsIn = ({ entry }: Documented): boolean => entry.authentication === "sign-in-with-x"
/** Whether the operation is about the payment in PAYMENT-SIGNATURE. */
const readsPayment = ({ entry }: Documented): boolean => entry.operationId === "readPaymentStatus"
export const isPaid = ({ entry }: Documented): boolean => entry.price !== null
/** Whether the response is a file. */
export const isFile = ({ entry }: Documented): boolean =>
  entry.operationId === "getAttachment" || entry.operationId === "getRawMessage"

const FILES: Readonly<Record<string, string>> = { getAttachment: "attachment", getRawMessage: "message.eml" }

/** Each mailbox that a sample buys has another name, so that the sample works again, and for others. */
const NAME_IN: Readonly<Record<"sh" | "ts" | "python", string>> = {
  sh: "ada-$(date +%s)",
  ts: "`ada-${Date.now()}`",
  python: 'f"ada-{uuid.uuid4().hex[:8]}"'
}

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const curl = (documented: Documented, flags: ReadonlyArray<string>, headers: ReadonlyArray<string>): string => {
  const input = sampleInput(documented)
  const { entry, operationId } = documented
  const parts = [
    [
      "curl",
      ...flags,
      ...(entry.method === "DELETE" || (entry.method === "POST" && input.body === undefined)
        ? ["-X", entry.method]
        : []),
      quotedUrl(urlOf(documented, input))
    ].join(" "),
    ...headers.map((header) => `-H ${header}`),
    ...(input.body === undefined ? [] : [`--json ${jsonArgument(input.body)}`]),
    ...(isFile(documented) ? [`-o ${FILES[operationId] ?? "file"}`] : [])
  ]
  return parts.join(" \\\n  ")
}

/** Returns a body with the variable NAME as the name of a mailbox. */
const jsonArgument = (body: Values): string =>
  quoted(JSON.stringify("localPart" in body ? { ...body, localPart: "$NAME" } : body)).replace("$NAME", `'"$NAME"'`)

const quotedUrl = (url: string): string => (/[?&]/.test(url) ? quoted(url) : url)

const TOKEN = '"Authorization: Bearer $AGENTOS_TOKEN"'

const tokenHeaders = (documented: Documented): ReadonlyArray<string> => (needsToken(documented) ? [TOKEN] : [])

/** A sample of an operation in curl, with the sentence before it. */
export interface Sample {
  readonly text: string
  readonly code: string
}

/** Returns one sample, or two for an operation whose first response is a challenge. */
export const curlSamples = (documented: Documented): ReadonlyArray<Sample> => {
  const headers = tokenHeaders(documented)
  if (isPaid(documented)) {
    const payment = [
      '"PAYMENT-SIGNATURE: $PAYMENT_SIGNATURE"',
      `"Idempotency-Key: ${documented.entry.operationId}-$(date +%s)"`
    ]
    return [
      {
        text: "Without a payment, the response is 402 with the challenge.",
        code: `${namesMailbox(documented) ? `NAME=${NAME_IN.sh}\n` : ""}${curl(documented, ["-i"], headers)}`
      },
      {
        text: "Sign the challenge with an x402 client. Then repeat the identical request with the payment.",
        code: curl(documented, ["-i"], [...headers, ...payment])
      }
    ]
  }
  if (signsIn(documented)) {
    return [
      {
        text: "The first response is 402 with a message to sign. It has no payment terms.",
        code: curl(documented, ["-i"], headers)
      },
      {
        text: "Sign the message with the wallet. Then repeat the request.",
        code: curl(documented, [], ['"SIGN-IN-WITH-X: $SIGN_IN_WITH_X"'])
      }
    ]
  }
  if (readsPayment(documented)) {
    return [
      {
        text: "Send the payment's header byte for byte.",
        code: curl(documented, [], ['"PAYMENT-SIGNATURE: $PAYMENT_SIGNATURE"'])
      }
    ]
  }
  return [{ text: "", code: curl(documented, [], headers) }]
}

const namesMailbox = (documented: Documented): boolean => "localPart" in (sampleInput(documented).body ?? {})

const literal = (value: Json, indent: string, python: boolean): string => {
  if (Array.isArray(value)) return `[${value.map((each) => literal(each, indent, python)).join(", ")}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(
      ([name, member]) =>
        `${python ? JSON.stringify(name) : name}: ${memberLiteral(name, member, `${indent}${python ? "    " : "  "}`, python)}`
    )
    return members.length === 0 ? "{}" : python ? `{${members.join(", ")}}` : `{ ${members.join(", ")} }`
  }
  if (!python) return JSON.stringify(value)
  return value === null ? "None" : value === true ? "True" : value === false ? "False" : JSON.stringify(value)
}

const memberLiteral = (name: string, value: Json, indent: string, python: boolean): string =>
  name === "localPart" ? NAME_IN[python ? "python" : "ts"] : literal(value, indent, python)

/** Whether a program can make the call. */
export const isCallable = ({ entry }: Documented): boolean => entry.authentication !== "unavailable"

/** Returns a program with the client of this project. */
export const typeScriptSample = (documented: Documented): string => {
  const { body = {}, path, query } = sampleInput(documented)
  const input = Object.entries({ ...path, ...query, ...body }).map(
    ([name, value]) => `${name}: ${memberLiteral(name, value, "", false)}`
  )
  if (readsPayment(documented)) input.push('"PAYMENT-SIGNATURE": process.env.PAYMENT_SIGNATURE as string')
  const inline = `, { ${input.join(", ")} }`
  const argument = input.length === 0 ? "" : inline.length < 70 ? inline : `, {\n  ${input.join(",\n  ")}\n}`
  return [
    'import { AgentOs } from "@agentos/client"',
    'import { privateKeyToAccount } from "viem/accounts"',
    "",
    `const agent = await AgentOs.connect("${ORIGIN}", {`,
    "  wallet: privateKeyToAccount(process.env.AGENTOS_PRIVATE_KEY as `0x${string}`),",
    `  spend: { perCall: "5.00", perDay: "10.00" }`,
    "})",
    `const result = await agent.call("${documented.operationId}"${argument})`,
    "console.log(result)"
  ].join("\n")
}

const pythonHeaders = (documented: Documented): string =>
  needsToken(documented) ? 'headers={"Authorization": f"Bearer {os.environ[\'AGENTOS_TOKEN\']}"},' : ""

/** Returns a program with httpx, and with the official package x402 if the operation costs. */
export const pythonSample = (documented: Documented): string => {
  const { body, path, query } = sampleInput(documented)
  const { entry } = documented
  const url = urlOf(documented, { path, query: {}, body })
  const verb = entry.method.toLowerCase()
  const payload = body === undefined ? "" : `json=${literal(body, "", true)},`
  if (isPaid(documented)) {
    const headers = [
      '"Idempotency-Key": str(uuid.uuid4())',
      ...(needsToken(documented) ? ['"Authorization": f"Bearer {os.environ[\'AGENTOS_TOKEN\']}"'] : [])
    ]
    return lines(
      "import asyncio",
      "import os",
      "import uuid",
      "",
      "from eth_account import Account",
      "from x402 import x402Client",
      "from x402.http.clients import x402HttpxClient",
      "from x402.mechanisms.evm import EthAccountSigner",
      "from x402.mechanisms.evm.exact.register import register_exact_evm_client",
      "",
      "",
      "async def main() -> None:",
      "    wallet = x402Client()",
      '    account = Account.from_key(os.environ["AGENTOS_PRIVATE_KEY"])',
      "    register_exact_evm_client(wallet, EthAccountSigner(account))",
      "    async with x402HttpxClient(wallet) as client:",
      `        response = await client.${verb}(`,
      `            "${url}",`,
      `            headers={${headers.join(", ")}},`,
      `            ${payload}`,
      "        )",
      "        response.raise_for_status()",
      '        print(response.json()["data"])',
      "",
      "",
      "asyncio.run(main())"
    )
  }
  const headers = readsPayment(documented)
    ? 'headers={"PAYMENT-SIGNATURE": os.environ["PAYMENT_SIGNATURE"]},'
    : signsIn(documented)
      ? 'headers={"SIGN-IN-WITH-X": os.environ["SIGN_IN_WITH_X"]},'
      : pythonHeaders(documented)
  const parameters = Object.keys(query).length === 0 ? "" : `params=${literal(query, "", true)},`
  return lines(
    ...(headers === "" ? [] : ["import os", ""]),
    "import httpx",
    "",
    `response = httpx.${verb}(`,
    `    "${url}",`,
    ...[parameters, headers, payload].filter((argument) => argument !== "").map((argument) => `    ${argument}`),
    ")",
    "response.raise_for_status()",
    isFile(documented) ? "print(len(response.content))" : 'print(response.json()["data"])'
  )
}

const lines = (...texts: ReadonlyArray<string>): string => texts.join("\n")
