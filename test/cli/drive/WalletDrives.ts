import { type Drives, NOBODY, reading } from "./Drive.ts"
import { PASSWORD, type Stage } from "./Stage.ts"

/** A well-known key, and its keystore without an address, so that only the password reveals it. */
const KEY = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
const KEYSTORE = JSON.stringify({
  version: 3,
  crypto: {
    cipher: "aes-128-ctr",
    cipherparams: { iv: "00".repeat(16) },
    ciphertext: "fb67fa0b8d0d37c8e6e1dc938b2386533b3635af6e0dc990f5dc7cdae90a0437",
    kdf: "pbkdf2",
    kdfparams: { c: 1, prf: "hmac-sha256", dklen: 32, salt: "00".repeat(32) },
    mac: "e2a5157592d1251de25a39b2c60fd5c08f261db77223dec78e71c157f8af76fd"
  }
})

const putKey = async (stage: Stage) => {
  stage.secrets.push(KEY)
  stage.put("key", KEY)
}
const putKeystore = async (stage: Stage) => {
  stage.put("store.json", KEYSTORE)
  stage.put("password", `${PASSWORD}\n`)
}

const [NEW, AGAIN, OPEN] = ["Password for the new wallet:", "Repeat the password:", "Password for"]
const [RIGHT, WRONG] = [
  [PASSWORD, "Enter"],
  ["wrong horse", "Enter"]
] as const
const CLOSED = "/dev/null"

export const WALLET_DRIVES: Drives<"wallet create" | "wallet import" | "wallet address" | "wallet balance"> = {
  "wallet create": () => ({
    success: {
      args: "wallet create",
      exit: 0,
      answers: [
        [NEW, ...RIGHT],
        [AGAIN, ...RIGHT]
      ]
    },
    failure: { args: "wallet create", exit: 6 },
    interrupt: { args: "wallet create --output second.json", exit: 130, answers: [[NEW, "C-c"]] },
    asProgram: { success: { args: "wallet create --plain", exit: 0 } },
    person: [
      {
        args: "wallet create --output second.json",
        exit: 3,
        answers: [
          [NEW, ...RIGHT],
          [AGAIN, ...WRONG]
        ]
      },
      { args: "wallet create --output second.json", exit: 3, answers: [[NEW, "Enter"]] },
      { args: "wallet create --output second.json", exit: 2, answers: [[NEW, "C-d"]] },
      {
        args: "wallet create --output second.json",
        exit: 2,
        answers: [
          [NEW, ...RIGHT],
          [AGAIN, "C-d"]
        ]
      }
    ],
    program: [{ args: "wallet create --output second.json", exit: 3, stdin: CLOSED }]
  }),
  "wallet import": async (stage) => {
    await putKey(stage)
    await putKeystore(stage)
    const pasted = "wallet import --output third.json"
    const keystore = "wallet import store.json --output third.json"
    const KEY_ASKED = "Private key, or keystore on one line:"
    return {
      success: {
        args: "wallet import key --output imported.json",
        exit: 0,
        answers: [
          [NEW, ...RIGHT],
          [AGAIN, ...RIGHT]
        ]
      },
      failure: { args: keystore, exit: 4, answers: [[OPEN, ...WRONG]] },
      interrupt: { args: pasted, exit: 130, answers: [[KEY_ASKED, "C-c"]] },
      asProgram: {
        success: { args: "wallet import --plain --output imported.key", exit: 0, stdin: "key" },
        failure: { args: `${keystore} --password-file -`, exit: 4, stdin: "key" }
      },
      person: [
        { args: pasted, exit: 2, answers: [[KEY_ASKED, "C-d"]] },
        { args: pasted, exit: 3, answers: [[KEY_ASKED, "no key", "Enter"]] },
        { args: `${pasted} --plain`, exit: 0, answers: [[KEY_ASKED, KEY, "Enter"]] },
        { args: "wallet import store.json --output fourth.json", exit: 0, answers: [[OPEN, ...RIGHT]] },
        { args: "wallet import store.json --output fifth.json", exit: 130, answers: [[OPEN, "C-c"]] },
        { args: "wallet import store.json --output fifth.json", exit: 2, answers: [[OPEN, "C-d"]] },
        reading("wallet import --output fifth.json")
      ],
      program: [{ args: pasted, exit: 3, stdin: CLOSED }]
    }
  },
  "wallet address": async (stage) => {
    await putKeystore(stage)
    const args = "wallet address --wallet-file store.json"
    return {
      success: { args, exit: 0, answers: [[OPEN, ...RIGHT]] },
      failure: { args, exit: 4, answers: [[OPEN, ...WRONG]] },
      interrupt: { args, exit: 130, answers: [[OPEN, "C-c"]] },
      asProgram: {
        success: { args: `${args} --password-file -`, exit: 0, stdin: "password" },
        failure: { args, exit: 3, stdin: CLOSED }
      },
      person: [{ args, exit: 2, answers: [[OPEN, "C-d"]] }]
    }
  },
  "wallet balance": () => ({
    success: { args: "wallet balance", exit: 0 },
    failure: { args: `wallet balance --rpc-url ${NOBODY}`, exit: 9 },
    interrupt: { args: "wallet balance", exit: 130, interrupt: "chain" },
    person: [{ args: "wallet balance", exit: 130, interrupt: "server" }]
  })
}
