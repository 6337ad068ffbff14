import { Failure } from "@agentos/node/command-line"
import { createCipheriv, createDecipheriv, pbkdf2, randomBytes, randomUUID, scrypt, timingSafeEqual } from "node:crypto"
import { promisify } from "node:util"
import { isRecord } from "../file/Json.ts"
import { checksummed, keccak256, PrivateKey } from "./PrivateKey.ts"

/*
 * The Ethereum JSON keystore, version 3 (Web3 Secret Storage Definition,
 * https://ethereum.org/en/developers/docs/data-structures-and-encoding/web3-secret-storage/).
 *
 * Hand-written on node:crypto, because no library fits. ox, which viem brings along, ignores the r and p of a file in
 * its asynchronous scrypt (0.14.45), so it cannot open keystores of geth. Others derive keys in JavaScript, and none
 * limits the cost that a file may ask for.
 */

/** The cost of a new keystore, as other wallets choose it: 128 MiB and about half a second. */
const SCRYPT = { n: 131_072, r: 8, p: 1 }
/** The maximum cost of a file from elsewhere, so that a malicious one cannot block the machine. */
const MEMORY_LIMIT_BYTES = 1024 * 1024 * 1024
const WORK_LIMIT = 2 ** 26
const ITERATIONS_LIMIT = 10_000_000

type Json = Readonly<Record<string, unknown>>

const deriveScrypt = async (
  password: string,
  salt: Buffer,
  length: number,
  { n, p, r }: { n: number; r: number; p: number }
): Promise<Buffer> => {
  // RFC 7914, section 2, requires n < 2^(16 r), and so does OpenSSL. Keystores of some programs violate this.
  if (n >= 2 ** (16 * r)) {
    const { scryptAsync } = await import("@noble/hashes/scrypt")
    return Buffer.from(await scryptAsync(password, salt, { N: n, r, p, dkLen: length, maxmem: MEMORY_LIMIT_BYTES * 2 }))
  }
  return new Promise<Buffer>((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 128 * r * (n + p + 2) + 1024 * 1024 }
    scrypt(password, salt, length, options, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}

const invalid = (problem: string) => new Failure({ code: "WRONG_WALLET", message: `Invalid keystore: ${problem}.` })

const text = (from: Json, name: string): string => {
  const value = from[name]
  if (typeof value === "string") return value
  throw invalid(`missing ${name}`)
}

const count = (from: Json, name: string, maximum: number): number => {
  const value = from[name]
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= maximum) return value
  throw invalid(`${name} must be an integer from 1 to ${maximum}`)
}

const bytes = (from: Json, name: string): Buffer => {
  const hex = text(from, name)
  if (/^(?:[0-9a-fA-F]{2}){1,1024}$/.test(hex)) return Buffer.from(hex, "hex")
  throw invalid(`${name} must be hexadecimal`)
}

const part = (from: Json, name: string): Json => {
  const value = from[name]
  if (isRecord(value)) return value
  throw invalid(`missing ${name}`)
}

export interface Keystore {
  /** Null if the file omits it, as some programs do for privacy. */
  readonly address: string | null
  /** Decrypts the key. Throws WRONG_PASSWORD if the password is wrong. */
  readonly open: (password: string) => Promise<PrivateKey>
}

const deriveKey = (crypto: Json, password: string): Promise<Buffer> => {
  const parameters = part(crypto, "kdfparams")
  const length = count(parameters, "dklen", 1_024)
  if (length < 32) throw invalid("dklen must be at least 32")
  const salt = bytes(parameters, "salt")
  const kdf = text(crypto, "kdf")
  if (kdf === "pbkdf2") {
    if (parameters["prf"] !== "hmac-sha256") throw invalid("prf must be hmac-sha256")
    return promisify(pbkdf2)(password, salt, count(parameters, "c", ITERATIONS_LIMIT), length, "sha256")
  }
  if (kdf !== "scrypt") throw invalid(`kdf must be scrypt or pbkdf2, not ${kdf}`)
  const [n, r, p] = [count(parameters, "n", WORK_LIMIT), count(parameters, "r", 1_024), count(parameters, "p", 1_024)]
  if (128 * n * r > MEMORY_LIMIT_BYTES || n * r * p > WORK_LIMIT)
    throw invalid("its scrypt parameters need too much memory or time")
  return deriveScrypt(password, salt, length, { n, r, p })
}

const open = async (crypto: Json, password: string): Promise<PrivateKey> => {
  if (text(crypto, "cipher") !== "aes-128-ctr") throw invalid("cipher must be aes-128-ctr")
  const derived = await deriveKey(crypto, password)
  const ciphertext = bytes(crypto, "ciphertext")
  const mac = keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]))
  const expected = bytes(crypto, "mac")
  if (expected.length !== mac.length || !timingSafeEqual(mac, expected))
    throw new Failure({ code: "WRONG_PASSWORD", message: "Wrong password for the keystore." })
  const iv = bytes(part(crypto, "cipherparams"), "iv")
  if (iv.length !== 16) throw invalid("iv must be 16 bytes")
  const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), iv)
  return PrivateKey.ofBytes(Buffer.concat([decipher.update(ciphertext), decipher.final()]), "The keystore")
}

/** Tries the normalized password after the given one: ethers derives keys from that, and other wallets do not. */
const openByEither = (crypto: Json, password: string): Promise<PrivateKey> => {
  const normalized = password.normalize("NFKC")
  const opened = open(crypto, password)
  return normalized === password ? opened : opened.catch(() => open(crypto, normalized))
}

export const readKeystore = (json: unknown): Keystore => {
  if (!isRecord(json) || json["version"] !== 3) throw invalid("version must be 3")
  // Some programs write the name with a capital letter.
  const crypto = part(json, isRecord(json["Crypto"]) ? "Crypto" : "crypto")
  const given = json["address"]
  const address = typeof given === "string" && /^(?:0x)?[0-9a-fA-F]{40}$/.test(given) ? checksummed(given) : null
  return {
    address,
    open: async (password) => {
      const key = await openByEither(crypto, password)
      if (address !== null && address !== key.address) throw invalid("its address does not match its key")
      return key
    }
  }
}

/** Encrypts a key and returns the text of the file. */
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
