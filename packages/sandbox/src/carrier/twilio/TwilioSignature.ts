import { createHmac } from "node:crypto"

/**
 * What Twilio puts in X-Twilio-Signature: the base64 HMAC-SHA1, under the account's auth token, of the whole URL as it
 * was given, followed by each form field's name and value in the order of the names. A handshake of ConversationRelay
 * is signed over its wss address alone. (https://www.twilio.com/docs/usage/security#validating-requests)
 */
export const twilioSignature = (authToken: string, url: string, fields: Readonly<Record<string, string>>): string => {
  const signed = Object.keys(fields)
    .sort()
    .map((name) => `${name}${fields[name]}`)
  return createHmac("sha1", authToken)
    .update(`${url}${signed.join("")}`)
    .digest("base64")
}
