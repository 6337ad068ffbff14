import { Failure } from "@agentos/node/command-line"
import { randomBytes } from "node:crypto"
import { inspect } from "node:util"
import { privateKeyToAddress } from "viem/accounts"
import { celo, stable, xLayer } from "viem/chains"
import { assert, describe, it } from "vitest"
import { readKeystore, writeKeystore } from "../../src/wallet/Keystore.ts"
import { PrivateKey } from "../../src/wallet/PrivateKey.ts"
import { PUBLIC_RPC } from "../../src/wallet/TokenBalance.ts"

/** The test vectors of the Web3 Secret Storage Definition. */
const PASSWORD = "testpassword"
const SECRET = "0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d"
const PBKDF2 = {
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "6087dab2f9fdbbfaddc31a909735c1e6" },
    ciphertext: "5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46",
    kdf: "pbkdf2",
    kdfparams: {
      c: 262_144,
      dklen: 32,
      prf: "hmac-sha256",
      salt: "ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd"
    },
    mac: "517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2"
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3
}
const SCRYPT = {
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "83dbcc02d8ccb40e466191a123791e0e" },
    ciphertext: "d172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c",
    kdf: "scrypt",
    kdfparams: {
      dklen: 32,
      n: 262_144,
      p: 8,
      r: 1,
      salt: "ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19"
    },
    mac: "2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097"
  },
  id: "3198bc9c-6672-5ab3-d995-4942343ae5b6",
  version: 3
}

const failureOf = async (use: () => Promise<unknown>): Promise<Failure> => {
  try {
    await use()
  } catch (error) {
    if (error instanceof Failure) return error
    throw error
  }
  throw new Error("no failure")
}

describe("Keystore", () => {
  for (const [name, vector] of Object.entries({ PBKDF2, SCRYPT }))
    it(`opens the published vector for ${name}`, async () => {
      const key = await readKeystore(vector).open(PASSWORD)
      assert.strictEqual(key.revealHex(), SECRET)
      assert.strictEqual(key.address, privateKeyToAddress(SECRET))
    })

  it("opens a keystore whose key was derived from the normalized password, as ethers does", async () => {
    const keystore = readKeystore(PBKDF2)
    const typed = PASSWORD.replace("t", "\uff54")
    assert.strictEqual((await keystore.open(typed)).revealHex(), SECRET)
    assert.strictEqual((await failureOf(() => keystore.open(`${typed}2`))).parts.code, "WRONG_PASSWORD")
  })

  it("opens its own keystore with the right password only", async () => {
    const key = PrivateKey.generate()
    const text = await writeKeystore(key, "a password ‑ with Ünicode")
    assert.notInclude(text, key.revealHex().slice(2))
    const keystore = readKeystore(JSON.parse(text))
    assert.strictEqual(keystore.address, key.address)
    assert.strictEqual((await keystore.open("a password ‑ with Ünicode")).revealHex(), key.revealHex())
    assert.strictEqual((await failureOf(() => keystore.open("another"))).parts.code, "WRONG_PASSWORD")
  })

  it("rejects excessive costs and a wrong address", async () => {
    const { crypto } = SCRYPT
    const costly = { ...SCRYPT, crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, n: 2 ** 25, r: 8 } } }
    assert.include((await failureOf(() => readKeystore(costly).open(PASSWORD))).message, "too much memory or time")
    const lying = { ...PBKDF2, address: "00".repeat(20) }
    assert.include((await failureOf(() => readKeystore(lying).open(PASSWORD))).message, "address")
    assert.include((await failureOf(() => Promise.resolve(readKeystore({ version: 4 })))).message, "version must be 3")
  })
})

describe("PrivateKey", () => {
  it("derives the same address as viem", () => {
    for (let round = 0; round < 50; round++) {
      const key = PrivateKey.ofBytes(randomBytes(32), "a test")
      assert.strictEqual(key.address, privateKeyToAddress(key.revealHex()), key.revealHex())
    }
  })

  it("is not printed by accident", () => {
    const key = PrivateKey.ofText(SECRET, "a test")
    for (const text of [
      String(key),
      JSON.stringify(key),
      inspect(key, { depth: 9, showHidden: true }),
      `${key.address}`
    ])
      assert.notInclude(text.toLowerCase(), SECRET.slice(2, 20))
  })

  it("rejects invalid keys without repeating them", () => {
    for (const text of ["", "0x12", "0".repeat(64), "f".repeat(64), `${SECRET}0`]) {
      try {
        PrivateKey.ofText(text, "a test")
        assert.fail(`${text} was taken`)
      } catch (error) {
        assert.instanceOf(error, Failure)
        if (text.length > 5) assert.notInclude(String(error), text)
      }
    }
  })
})

describe("PUBLIC_RPC", () => {
  it("matches the chain definitions of viem", () => {
    const known = [xLayer, celo, stable].map(({ id, rpcUrls }) => [`eip155:${id}`, rpcUrls.default.http[0]])
    assert.deepStrictEqual(Object.fromEntries(known), PUBLIC_RPC)
  })
})
