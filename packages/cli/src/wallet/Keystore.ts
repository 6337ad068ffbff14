import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, scrypt, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"
import { isRecord } from "../file/JsonValue.ts"
import { Failure } from "../failure/Failure.ts"
import { checksummed, keccak256 } from "./Address.ts"
import { PrivateKey } from "./PrivateKey.ts"

/*
 * The Ethereum JSON keystore, version 3 (Web3 Secret Storage Definition,
 * https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/).
 */

/** Cost of a new keystore: 128 MiB and about half a second, as other wallets choose it. */
const SCRYPT = { n: 131_072, r: 8, p: 1 }
/** What a file from elsewhere may cost at most, so that a wrong one does not stop the machine. */
const MEMORY_LIMIT_BYTES = 1024 * 1024 * 1024
const WORK_LIMIT = 2 ** 26
const ITERATIONS_LIMIT = 10_000_000

const deriveScrypt = async (
  password: string,
  salt: Buffer,
  length: number,
  cost: { n: number; r: number; p: number }
): Promise<Buffer> => {
  const { n, p, r } = cost
  // RFC 7914, section 2, wants n below 2^(16 r), and OpenSSL keeps to it. Keystores of some programs do not.
  if (n >= 2 ** (16 * r)) {
    const { scryptAsync } = await import("@noble/hashes/scrypt")
    return Buffer.from(await scryptAsync(password, salt, { N: n, r, p, dkLen: length, maxmem: MEMORY_LIMIT_BYTES * 2 }))
  }
  return new Promise<Buffer>((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 128 * r * (n + p + 2) + 1024 * 1024 }
    scrypt(password, salt, length, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}

const wrong = (what: string) => new Failure({ code: "WRONG_WALLET", message: `The keystore can't be used: ${what}.` })

const text = (from: Readonly<Record<string, unknown>>, name: string): string => {
  const value = from[name]
  if (typeof value === "string") return value
  throw wrong(`${name} is missing`)
}

const count = (from: Readonly<Record<string, unknown>>, name: string, maximum: number): number => {
  const value = from[name]
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maximum) return value
  throw wrong(`${name} is not a whole number from 1 to ${maximum}`)
}

const bytes = (from: Readonly<Record<string, unknown>>, name: string): Buffer => {
  const hex = text(from, name)
  if (/^(?:[0-9a-fA-F]{2}){1,1024}$/.test(hex)) return Buffer.from(hex, "hex")
  throw wrong(`${name} is not hexadecimal`)
}

const part = (from: Readonly<Record<string, unknown>>, name: string): Readonly<Record<string, unknown>> => {
  const value = from[name]
  if (isRecord(value)) return value
  throw wrong(`${name} is missing`)
}

/** A keystore that was read, and not opened. */
export interface Keystore {
  /** Null where the file does not say it, as some don't for privacy. */
  readonly address: string | null
  /** Opens it. Throws the failure that says that the password is wrong. */
  readonly open: (password: string) => Promise<PrivateKey>
}

const deriveKey = (crypto: Readonly<Record<string, unknown>>, password: string): Promise<Buffer> => {
  const parameters = part(crypto, "kdfparams")
  const length = count(parameters, "dklen", 1_024)
  if (length < 32) throw wrong("dklen is below 32")
  const salt = bytes(parameters, "salt")
  const kdf = text(crypto, "kdf")
  if (kdf === "pbkdf2") {
    if (parameters["prf"] !== "hmac-sha256") throw wrong("its prf is not hmac-sha256")
    return promisify(pbkdf2)(password, salt, count(parameters, "c", ITERATIONS_LIMIT), length, "sha256")
  }
  if (kdf !== "scrypt") throw wrong(`kdf ${kdf} is neither scrypt nor pbkdf2`)
  const [n, r, p] = [count(parameters, "n", WORK_LIMIT), count(parameters, "r", 1_024), count(parameters, "p", 1_024)]
  if (128 * n * r > MEMORY_LIMIT_BYTES || n * r * p > WORK_LIMIT) throw wrong("it asks for too much memory or work")
  return deriveScrypt(password, salt, length, { n, r, p })
}

const open = async (crypto: Readonly<Record<string, unknown>>, password: string): Promise<PrivateKey> => {
  if (text(crypto, "cipher") !== "aes-128-ctr") throw wrong("its cipher is not aes-128-ctr")
  const derived = await deriveKey(crypto, password)
  const ciphertext = bytes(crypto, "ciphertext")
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
  const expected = bytes(crypto, "mac")
  if (expected.length !== mac.length || !timingSafeEqual(mac, expected))
    throw new Failure({ code: "WRONG_PASSWORD", message: "The password does not open the keystore." })
  const iv = bytes(part(crypto, "cipherparams"), "iv")
  if (iv.length !== 16) throw wrong("iv is not 16 bytes")
  const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), iv)
  return PrivateKey.ofBytes(Buffer.concat([decipher.update(ciphertext), decipher.final()]), "the keystore")
}

/** Reads the JSON of a keystore. */
export const readKeystore = (json: unknown): Keystore => {
  if (!isRecord(json) || json["version"] !== 3) throw wrong("it is not of version 3")
  // Some programs write the name with a capital.
  const crypto = part(json, isRecord(json["Crypto"]) ? "Crypto" : "crypto")
  const said = json["address"]
  const address = typeof said === "string" && /^(?:0x)?[0-9a-fA-F]{40}$/.test(said) ? checksummed(said) : null
  return {
    address,
    open: async (password) => {
      const key = await open(crypto, password)
      if (address !== null && address !== key.address) throw wrong("its address is not that of its key")
      return key
    }
  }
}

/** The text of a new keystore for a key. */
export const writeKeystore = async (key: PrivateKey, password: string): Promise<string> => {
  const salt = randomBytes(32)
  const iv = randomBytes(16)
  const derived = await deriveScrypt(password, salt, 32, SCRYPT)
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv)
  const ciphertext = Buffer.concat([cipher.update(key.reveal()), cipher.final()])
  const keystore = {
    version: 3,
    id: randomUUID(),
    address: key.address.slice(2).toLowerCase(),
    crypto: {
      cipher: "aes-128-ctr",
      cipherparams: { iv: iv.toString("hex") },
      ciphertext: ciphertext.toString("hex"),
      kdf: "scrypt",
      kdfparams: { dklen: 32, ...SCRYPT, salt: salt.toString("hex") },
      mac: keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext])).toString("hex")
    }
  }
  return `${JSON.stringify(keystore, undefined, 2)}\n`
}
