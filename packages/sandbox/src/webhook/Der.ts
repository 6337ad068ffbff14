/** One value in DER (X.690): its tag, the length of its contents, its contents. */
export const der = (tag: number, ...contents: ReadonlyArray<Uint8Array>): Buffer => {
  const content = Buffer.concat(contents)
  const length: Array<number> = []
  for (let rest = content.length; rest > 0; rest >>= 8) length.unshift(rest & 0xff)
  const head = content.length < 0x80 ? [content.length] : [0x80 | length.length, ...length]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

export const sequence = (...items: ReadonlyArray<Uint8Array>): Buffer => der(0x30, ...items)
export const bitString = (bytes: Uint8Array, unusedBits = 0): Buffer => der(0x03, Buffer.from([unusedBits]), bytes)
export const octetString = (...contents: ReadonlyArray<Uint8Array>): Buffer => der(0x04, ...contents)
/** An object identifier, encoded already. */
export const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"))
export const utf8String = (text: string): Buffer => der(0x0c, Buffer.from(text))
/** A positive number, from its bytes. */
export const integer = (bytes: Uint8Array): Buffer => der(0x02, bytes)
export const yes: Buffer = der(0x01, Buffer.from([0xff]))

/** RFC 5280, section 4.1.2.5: two digits of the year to 2049, four from 2050. */
export const time = (millis: number): Buffer => {
  const text = new Date(millis).toISOString().replace(/[-:T]|\.\d+/g, "")
  return text < "2050" ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text))
}
