import { decimalOf } from "@agentos/client"
import { type Field, shellWord } from "@agentos/node/command-line"
import type { Context } from "../context/Context.ts"
import { asStarted } from "../host/Host.ts"
import type { PayFlagValues } from "../context/Flags.ts"
import { isRecord } from "../file/Json.ts"
import { resumeCommand } from "../payment/PaymentFailure.ts"
import { shownEntry, type StoredEntry } from "../payment/JournalFile.ts"
import { type Bought, type PaidCall, pay } from "../payment/Payment.ts"
import type { OperationName } from "../server/Routes.ts"

/** Returns the document of a paid command: the API's data and the payment. */
const withPayment = <Data extends object>(data: Data, entry: StoredEntry) => {
  const { id, payer, quote, state } = shownEntry(entry)
  const transaction = state.tag === "answered" ? state.transaction : null
  return { ...data, payment: { id, payer, ...quote, transaction } }
}

/** Pays for an operation, prints the document of its result and its fields, and notes the payment. */
export const payAndPrint = async <Name extends OperationName>(
  context: Context,
  call: PaidCall<Name>,
  flags: PayFlagValues,
  fieldsOf: (data: Bought<Name>["data"], paymentId: string) => ReadonlyArray<Field>
): Promise<Bought<Name>["data"]> => {
  const { data, entry } = await pay(context, call, flags)
  const { output } = context
  output.record(withPayment(data, entry), fieldsOf(data, entry.id))
  output.note(`Paid ${decimalOf(BigInt(entry.amount))} USDT on ${entry.network}. Payment ${output.shownId(entry.id)}.`)
  noteToken(context, data, entry)
  return data
}

/** Notes that the token is saved, or how to get the token that the wallet has and that this purchase did not return. */
export const noteToken = (
  { host, output }: Context,
  data: Readonly<Record<string, unknown>>,
  entry: StoredEntry
): void => {
  const { authentication } = data
  if (!isRecord(authentication)) return
  const { baseUrl, profile } = entry
  if (authentication["accessTokenSaved"] === true)
    return output.note(`The access token is saved in profile ${profile}.`)
  output.warn(
    asStarted(
      host,
      `This wallet already has an access token, which this purchase did not return. To save it in profile ${profile}, free of charge: agentctl login --wallet --profile ${profile} --base-url ${shellWord(baseUrl)}`
    )
  )
}

/**
 * Returns the field with the secret of voice callbacks, which only the answer to the purchase contains. It is shown on a
 * terminal and with --json, but not piped as text. Resuming the payment shows it again.
 */
export const secretFields = (
  { host, output }: Context,
  data: Readonly<Record<string, unknown>> | null,
  paymentId: string
): ReadonlyArray<readonly [string, string]> => {
  const secret = data?.["callbackVerificationSecret"]
  if (typeof secret !== "string") return []
  if (!host.stdout.isTerminal && !output.options.json) {
    output.warn(`The callback secret is not printed to a pipe. To print it: ${resumeCommand(paymentId)} --json`)
    return []
  }
  output.warn("Store the callback secret: your agent uses it to verify callbacks from the service.")
  return [["Callback secret", secret]]
}
