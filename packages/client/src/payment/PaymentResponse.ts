import { decodeJson, isRecord } from "../Encoding.ts"

const memberOf = (value: unknown, ...names: ReadonlyArray<string>): unknown =>
  names.reduce((within, name) => (isRecord(within) ? within[name] : undefined), value)

/** Returns the transaction and the signed receipt in a PAYMENT-RESPONSE header, each null if it is missing. */
export const readPaymentResponse = (
  header: string | null
): { readonly transaction: string | null; readonly receipt: string | null } => {
  const response = header === null ? undefined : decodeJson(header)
  const transaction = memberOf(response, "transaction")
  const receipt = memberOf(response, "extensions", "offer-receipt", "info", "receipt", "signature")
  return {
    transaction: typeof transaction === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(transaction) ? transaction : null,
    receipt: typeof receipt === "string" ? receipt : null
  }
}
