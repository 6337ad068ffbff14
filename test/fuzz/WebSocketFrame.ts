/** A frame by its parts (RFC 6455, section 5.2), valid or not. */
export interface Frame {
  readonly isFinal: boolean
  /** The three reserved bits. */
  readonly reserved: number
  readonly opcode: number
  readonly isMasked: boolean
  /** Bytes as latin1. */
  readonly payload: string
  /** The declared length, if it is not the payload's. */
  readonly declaredLength?: number
}

export const OPCODE = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

/** The headers that ask for a WebSocket. */
export const handshakeHeaders: ReadonlyArray<readonly [name: string, value: string]> = [
  ["Upgrade", "websocket"],
  ["Connection", "Upgrade"],
  ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
  ["Sec-WebSocket-Version", "13"]
]

/** The bytes of a frame. A masked one has a key of zeros, so that the payload stays as it is. */
export const frameBytes = ({ declaredLength, isFinal, isMasked, opcode, payload, reserved }: Frame): Buffer => {
  const length = declaredLength ?? payload.length
  const first = (isFinal ? 0x80 : 0) | ((reserved & 7) << 4) | (opcode & 15)
  const mask = isMasked ? 0x80 : 0
  const head =
    length < 126
      ? Buffer.from([first, mask | length])
      : length < 65_536
        ? Buffer.from([first, mask | 126, length >> 8, length & 255])
        : Buffer.concat([Buffer.from([first, mask | 127]), bigEndian(length)])
  return Buffer.concat([head, Buffer.alloc(isMasked ? 4 : 0), Buffer.from(payload, "latin1")])
}

const bigEndian = (length: number): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(length))
  return bytes
}

/** A valid text frame of a client. */
export const textFrame = (text: string): Buffer =>
  frameBytes({
    isFinal: true,
    reserved: 0,
    opcode: OPCODE.text,
    isMasked: true,
    payload: Buffer.from(text).toString("latin1")
  })

/** A frame of a server. */
export interface ServerFrame {
  readonly opcode: number
  readonly payload: Buffer
}

/** Reads the complete frames at the start of the bytes of a server. */
export const readFrames = (bytes: Buffer): ReadonlyArray<ServerFrame> => {
  const frames: Array<ServerFrame> = []
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes[at + 1]! & 127
    const headLength = short === 127 ? 10 : short === 126 ? 4 : 2
    if (at + headLength > bytes.length) break
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short
    const end = at + headLength + length
    if (end > bytes.length) break
    frames.push({ opcode: bytes[at]! & 15, payload: bytes.subarray(at + headLength, end) })
    at = end
  }
  return frames
}
