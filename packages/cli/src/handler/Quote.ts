import type { InputOf } from "../command/Command.ts"
import type { Context } from "../command/Handler.ts"
import type { QUOTE } from "../command/ServiceCommands.ts"
import { EXIT } from "../failure/ExitCode.ts"
import { Failure } from "../failure/Failure.ts"
import { shellWord } from "../output/ShellWord.ts"
import { decimalOf, momentOf } from "../output/Wording.ts"
import { askQuote } from "../payment/Quote.ts"
import type { ApiClient } from "../server/ApiClient.ts"
import { connect } from "../server/Connection.ts"
import { readFields } from "../server/Fields.ts"

/** The record of the service, which says where it is and whether it costs anything. */
const describe = async (client: ApiClient, serviceId: string) => {
  const { service } = await client.call("getService", { params: { serviceId } })
  if (service.price !== null) return service
  throw new Failure({
    code: "FAILED",
    exit: EXIT.usage,
    message: service.available
      ? `${serviceId} is free: there is nothing to quote.`
      : `${serviceId} is not offered by this server.`,
    next: [`agentctl services show ${shellWord(serviceId)}`]
  })
}

/** Whoever has given wrong inputs is shown which there are. */
const withInputs = (error: unknown, { serviceId }: { readonly serviceId: string }): unknown =>
  error instanceof Failure && error.parts.code === "INVALID_REQUEST" && error.parts.next?.length === 0
    ? new Failure({
        ...error.parts,
        exit: error.exit,
        next: [`agentctl services show ${shellWord(serviceId)}`]
      })
    : error

export const run = async (context: Context, input: InputOf<typeof QUOTE>): Promise<void> => {
  const { output } = context
  const fields = readFields(input.arguments.fields)
  const { client } = await connect(context)
  const service = await describe(client, input.arguments.service)
  const body = JSON.stringify(fields)
  const call = { method: service.method, path: service.path, body }
  const quote = await askQuote(client, call).catch((error: unknown) => Promise.reject(withInputs(error, service)))
  const accepts = quote.options.map((option) => ({
    amount: decimalOf(option.baseUnits),
    baseUnits: String(option.baseUnits),
    asset: option.asset,
    assetName: option.assetName,
    network: option.network,
    payTo: option.payTo,
    maxTimeoutSeconds: option.maxTimeoutSeconds,
    expiresAt: option.expiresAt === null ? null : new Date(option.expiresAt).toISOString()
  }))
  output.table(
    { serviceId: service.serviceId, method: service.method, path: service.path, body: fields, accepts },
    accepts,
    [
      { heading: "AMOUNT", value: ({ amount }) => amount, whole: true },
      { heading: "TOKEN", value: ({ assetName }) => assetName, whole: true },
      { heading: "NETWORK", value: ({ network }) => network, whole: true },
      { heading: "PAY TO", value: ({ payTo }) => payTo, whole: true },
      { heading: "CONTRACT", value: ({ asset }) => asset, whole: true },
      { heading: "GOOD UNTIL", value: ({ expiresAt }) => momentOf(expiresAt), whole: true }
    ],
    "The server offers no way to pay."
  )
  output.note(`${service.purpose} Nothing was paid.`)
}
