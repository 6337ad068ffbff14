import { describe, expect, it } from "vitest"
import { textOfHtml } from "../../src/parser/HtmlText.ts"

describe("the text that HTML shows", () => {
  it.each([
    ["<p>Hello <b>Ada</b>,</p><p>how are\n you?</p>", "Hello Ada,\n\nhow are you?"],
    ["one<br>two<br/>three<div>four</div>five", "one\ntwo\nthree\nfour\nfive"],
    ["<ul><li>first</li><li>second</ul>after", "- first\n- second\n\nafter"],
    ["<table><tr><td>Total</td><td>5.00</td></tr></table>", "Total\n5.00"],
    ["<pre>a\n b\n</pre>c", "a\n b\n\nc"],
    ["x <pre>\n  if (a)  b\n\n\n\tc <b>  d</b>\n</pre> y", "x\n\n  if (a)  b\n\n\tc   d\n\ny"],
    ["<blockquote><pre>a\n  b</pre></blockquote>", "> a\n>   b"],
    ["<ol><li>one</li><li>two</ol>", "1. one\n2. two"],
    ['<ol start="3"><li>three<li value="7">seven<li>eight</ol>', "3. three\n7. seven\n8. eight"],
    ["<ol start=3 reversed><li>three<li>two</ol><ol reversed><li>a</ol>", "3. three\n2. two\n\n- a"],
    ['<ol type="a"><li>x<li>y</ol><ol type=A start=26><li>x<li>y</ol>', "a. x\nb. y\n\nZ. x\n27. y"],
    ["<ol><li>one<ul><li>sub</ul><li>two</ol></ol><li>x", "1. one\n\n- sub\n\n2. two\n\n- x"],
    ["10<sup>6</sup> and 10<sup>-3</sup> m<sup>2</sup>, 1<sup>st</sup>, 5 <sup>6</sup>", "10^6 and 10^-3 m2, 1st, 5 6"],
    ["Tom &amp; Jerry &lt;3&nbsp;&copy; &#233;&#x1F600; &notanentity;", "Tom & Jerry <3 © é😀 ¬anentity;"],
    ["a < b, c <3", "a < b, c <3"]
  ])("of %j has its lines and characters", (html, text) => {
    expect(textOfHtml(html)).toBe(text)
  })

  it.each([
    ['See <a href="https://example.com/a?b=1&amp;c=2">our page</a>.', "See our page <https://example.com/a?b=1&c=2>."],
    ['<a href="https://example.com/">example.com</a>', "example.com"],
    ['<a href="mailto:ada@example.com">ada@example.com</a>', "ada@example.com"],
    ['<a href="https://example.com/x"><img alt="Open" src="cid:1"></a>', "Open <https://example.com/x>"],
    ['<a href="javascript:alert(1)">a</a> <a href="/b">b</a> <a name="c">c</a>', "a b c"],
    ['<a href="https://example.com/a b>c">unclosed', "unclosed <https://example.com/a%20b%3Ec>"]
  ])("of %j has the address of each link that the text does not show", (html, text) => {
    expect(textOfHtml(html)).toBe(text)
  })

  it("marks quotes as a plain text does", () => {
    expect(textOfHtml("<p>Yes.</p><div>On Monday, Bob wrote:</div><blockquote><p>Ready?</p>Bob</blockquote>Ada")).toBe(
      "Yes.\n\nOn Monday, Bob wrote:\n\n> Ready?\n\n> Bob\n\nAda"
    )
  })

  it.each([
    ["<head><title>T</title><style>p{color:red}</style></head><body>shown", "shown"],
    ["<script>if (a < b) code()</script>shown<!-- hidden -->", "shown"],
    ["<STYLE >hidden</style >shown", "shown"]
  ])("of %j has no hidden content", (html, text) => {
    expect(textOfHtml(html)).toBe(text)
  })

  it("is null if nothing is shown", () => {
    expect(textOfHtml("")).toBeNull()
    expect(textOfHtml("<style>a<p>b</p>")).toBeNull()
    expect(textOfHtml("<p>&nbsp;</p><img src=x>")).toBeNull()
  })
})
