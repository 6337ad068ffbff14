export type Json = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Parses JSON; undefined if it is invalid. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)

export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")

/** Encodes a value as base64 of JSON, the form of x402's headers. */
export const encodeJson = (value: unknown): string =>
  btoa(Array.from(utf8(JSON.stringify(value)), (byte) => String.fromCharCode(byte)).join(""))

/** Longer than any header of this service. */
const HEADER_LIMIT = 65_536

/** Decodes base64 of JSON; undefined if it is invalid or too long. */
export const decodeJson = (header: string): unknown => {
  if (header.length > HEADER_LIMIT) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (character) => character.charCodeAt(0))))
  } catch {
    return undefined
  }
}
