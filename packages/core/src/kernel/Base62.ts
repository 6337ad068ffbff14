const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const DIGITS = new Map([...ALPHABET].map((character, value) => [character, BigInt(value)]))

/** Returns the number of base62 characters that encode `bytes` bytes. */
export const encodedLength = (bytes: number): number => Math.ceil((bytes * 8) / Math.log2(62))

/**
 * Encodes bytes as base62 of a fixed width. It uses only letters and digits, so a double click selects a whole token.
 */
export const encode = (bytes: Uint8Array): string => {
  let number = 0n
  for (const byte of bytes) number = (number << 8n) | BigInt(byte)
  let text = ""
  for (; number > 0n; number /= 62n) text = ALPHABET[Number(number % 62n)] + text
  return text.padStart(encodedLength(bytes.length), "0")
}

/** Decodes the `length` bytes that `encode` encoded. Returns undefined if the text is not such an encoding. */
export const decode = (text: string, length: number): Uint8Array | undefined => {
  if (text.length !== encodedLength(length)) return undefined
  let number = 0n
  for (const character of text) {
    const digit = DIGITS.get(character)
    if (digit === undefined) return undefined
    number = number * 62n + digit
  }
  const bytes = new Uint8Array(length)
  for (let i = length - 1; i >= 0; i--, number >>= 8n) bytes[i] = Number(number & 0xffn)
  return number === 0n ? bytes : undefined
}
