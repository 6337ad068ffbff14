import { createdBy, createMailbox, deleteMailbox, sendMessage, updateMailbox } from "./MailboxRequests.ts"
import type { Race } from "./Race.ts"
import { isSuccess, type Outcome, type Round } from "./Round.ts"
import type { Wallet } from "./Wallet.ts"

const REPLAYS = 8
/** Of each contender, where several want the same. */
const COPIES = 4

const plain = { roundsPerPlay: 1, freshWallets: 0, alone: false }

/** A wallet that has just bought its first mailbox lists it, or them. */
const expectOneMailbox = async (round: Round, wallet: Wallet, localPart: string): Promise<void> => {
  const found = (await wallet.mailboxes(round.server())).filter((mailbox) => mailbox.localPart === localPart)
  if (found.length !== 1) round.violation(`${found.length} mailboxes are called ${localPart}`)
}

const takeToken = (wallet: Wallet, outcomes: ReadonlyArray<Outcome>): void => {
  const success = outcomes.flatMap(({ last }) => last).find(isSuccess)
  if (success !== undefined) wallet.token = createdBy(success).accessToken
}

/** The same bytes, eight times at once; every other time from a wallet that the service has never seen. */
export const sameReplay: Race = {
  ...plain,
  name: "the same replay, 8 at a time",
  freshWallets: 1,
  play: async (round) => {
    const known = round.setting.number % 2 === 0
    const wallet = known ? round.setting.lane[0] : round.setting.fresh()
    const localPart = round.name("replay")
    const outcomes = await round.run([await round.contender(wallet, createMailbox(localPart))], REPLAYS)
    round.expectOneWinner(outcomes, [])
    if (!known) takeToken(wallet, outcomes)
    await expectOneMailbox(round, wallet, localPart)
  }
}

/** A message, eight times at once: the relay gets it once. */
export const sameMessage: Race = {
  ...plain,
  name: "one message, 8 replays at a time",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const recipient = `${round.name("message")}@elsewhere.test`
    const outcomes = await round.run([await round.contender(wallet, sendMessage(wallet, recipient))], REPLAYS)
    round.expectOneWinner(outcomes, [])
    round.expectMail(recipient, outcomes)
  }
}

/** One authorization with two keys: the second key is told that the payment belongs to the first. */
export const oneProofTwoKeys: Race = {
  ...plain,
  name: "one proof, two keys",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const [localPart, recipient] = [round.name("keys"), `${round.name("keys")}@elsewhere.test`]
    const isMessage = round.setting.number % 2 === 0
    const request = isMessage ? sendMessage(wallet, recipient) : createMailbox(localPart)
    const first = await round.contender(wallet, request)
    const outcomes = await round.run([first, await round.contender(wallet, request, first.stake)], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT"])
    if (isMessage) round.expectMail(recipient, outcomes)
    else await expectOneMailbox(round, wallet, localPart)
  }
}

/** One key with two authorizations for the same request: the second is not used. */
export const oneKeyTwoProofs: Race = {
  ...plain,
  name: "one key, two proofs",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const [localPart, recipient] = [round.name("proofs"), `${round.name("proofs")}@elsewhere.test`]
    const isMessage = round.setting.number % 2 === 0
    const request = isMessage ? sendMessage(wallet, recipient) : createMailbox(localPart)
    const first = await round.contender(wallet, request)
    const outcomes = await round.run([first, await round.contender(wallet, request, undefined, first.key)], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT"])
    if (isMessage) round.expectMail(recipient, outcomes)
    else await expectOneMailbox(round, wallet, localPart)
  }
}

/** One authorization at the endpoint that it was signed for, and at another of the same price. */
export const oneProofTwoEndpoints: Race = {
  ...plain,
  name: "one proof, two endpoints",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const localPart = round.name("endpoints")
    const { mailbox } = createdBy(await round.provide(wallet, createMailbox(localPart)))
    const requests = [updateMailbox(mailbox.mailboxId, "changed"), deleteMailbox(mailbox.mailboxId)] as const
    const [own, other] = round.random.shuffle(requests) as typeof requests
    const rightful = await round.contender(wallet, own)
    const key = round.random.pick([rightful.key, undefined])
    const outcomes = await round.run([rightful, await round.contender(wallet, other, rightful.stake, key)], COPIES)
    round.expectOneWinner(outcomes, ["IDEMPOTENCY_CONFLICT", "PAYMENT_REQUIRED"])
    if (!outcomes[0]!.won) round.violation("the endpoint that was paid lost")
    const left = (await wallet.mailboxes(round.server())).find((each) => each.localPart === localPart)
    const expected = own === requests[0] ? "changed" : undefined
    if ((left?.displayName ?? undefined) !== expected) {
      round.violation(`${own.path} was paid, and the mailbox is ${JSON.stringify(left)}`)
    }
  }
}

/** Two wallets that the service has never seen want one name. */
export const twoWalletsOneName: Race = {
  ...plain,
  name: "two wallets, one local part",
  freshWallets: 2,
  play: async (round) => {
    const localPart = round.name("name")
    const wallets = [round.setting.fresh(), round.setting.fresh()]
    const contenders = await Promise.all(wallets.map((wallet) => round.contender(wallet, createMailbox(localPart))))
    const outcomes = await round.run(contenders, COPIES)
    round.expectOneWinner(outcomes, ["CONFLICT"])
    for (const outcome of outcomes.filter(({ won }) => won)) {
      takeToken(outcome.contender.wallet, [outcome])
      await expectOneMailbox(round, outcome.contender.wallet, localPart)
    }
  }
}

/** Two payments, each to change or delete one mailbox: in whatever order, each has its effect or its money. */
export const twoChangesOneMailbox: Race = {
  ...plain,
  name: "one mailbox, two changes",
  play: async (round) => {
    const [wallet] = round.setting.lane
    const localPart = round.name("changes")
    const { mailbox } = createdBy(await round.provide(wallet, createMailbox(localPart)))
    const names = ["one", "two"]
    const kinds = round.random.pick([
      ["update", "delete"],
      ["delete", "delete"],
      ["update", "update"]
    ] as const)
    const contenders = await Promise.all(
      kinds.map((kind, index) =>
        round.contender(
          wallet,
          kind === "delete" ? deleteMailbox(mailbox.mailboxId) : updateMailbox(mailbox.mailboxId, names[index]!)
        )
      )
    )
    const outcomes = await round.run(contenders, COPIES)
    expectEffects(round, outcomes, kinds)
    const left = (await wallet.mailboxes(round.server())).find((each) => each.localPart === localPart)
    const isDeleted = kinds.some((kind) => kind === "delete")
    const fits = isDeleted ? left === undefined : names.includes(left?.displayName ?? "")
    if (!fits) round.violation(`after ${kinds.join(" and ")} the mailbox is ${JSON.stringify(left)}`)
  }
}

/** One deletion has its effect, and so has every change when there was none; who had no effect was told that the mailbox is gone. */
const expectEffects = (round: Round, outcomes: ReadonlyArray<Outcome>, kinds: ReadonlyArray<string>): void => {
  const deletions = outcomes.filter((_, index) => kinds[index] === "delete")
  if (deletions.length > 0 && deletions.filter(({ won }) => won).length !== 1) {
    round.violation(
      `of ${deletions.length} deletions of one mailbox ${deletions.filter(({ won }) => won).length} came about`
    )
  }
  if (deletions.length === 0 && !outcomes.every(({ won }) => won))
    round.violation("a change of a mailbox did not come about")
  for (const { contender, last, won } of outcomes) {
    const gone = contender.stake.returned ? "PROVIDER_REJECTED" : "RESOURCE_NOT_FOUND"
    const other = last.find((reply) => reply.body.error?.code !== gone)
    if (!won && other !== undefined) round.violation(`who came too late was told ${other.status} ${other.text}`)
  }
}
