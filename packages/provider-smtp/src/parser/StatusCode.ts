/** An enhanced status code (RFC 3463) in the text of a reply, for example of `550 5.1.1 …` and of `(#5.1.1)`. */
const CODE_IN_REPLY = /(?:^|[\s(;:#])([245]\.\d{1,3}\.\d{1,3})(?![\d.])/
/** A reply that says that an address does not exist, and gives no enhanced code. */
const UNKNOWN_ADDRESS =
  /^55[0-4][ -](?!.*\bblock)(?=.{0,300}\b(?:user|recipient|mailbox|address|account|alias)\b)(?=.{0,300}\b(?:unknown|no such|not found|does ?n[o']t exist|invalid|no longer|non-?existent)\b)/i

/** Returns the status code that describes a failure best: that of the report, or a more specific one in the reply. */
export const specificStatus = (status: string, diagnostic: string | null): string => {
  const isGeneral = status === "" || /^[245]\.0\.0$/.test(status)
  if (!isGeneral || diagnostic === null) return status
  const code = CODE_IN_REPLY.exec(diagnostic)?.[1]
  if (code !== undefined && (status === "" || code[0] === status[0])) return code
  return status[0] !== "4" && UNKNOWN_ADDRESS.test(diagnostic) ? "5.1.1" : status
}
