import { both, mail } from "./LabeledMail.ts"

const FOOTER = `<tr><td style="color:#656d76;font-size:12px">© 2026 Example, Inc. · 88 Colin P Kelly Jr St, San Francisco, CA 94107 · <a href="https://example.com/unsubscribe?u=9f3ab21c77e04d">Unsubscribe</a> · <a href="https://example.com/privacy">Privacy</a></td></tr>`

export const ENGLISH = [
  mail(
    "en",
    "GitHub, new device",
    "[GitHub] Please verify your device",
    `Hey ada-lovelace!

A sign in attempt requires further verification because we did not recognize your device. To complete the sign in, enter the verification code on the unrecognized device.

Device: Firefox on Linux
Verification code: 482913

If you did not attempt to sign in to your account, your password may be compromised. Visit https://github.com/settings/security to create a new, strong password.

Thanks,
The GitHub Team`,
    "482913"
  ),
  mail(
    "en",
    "GitHub, sudo by email",
    "[GitHub] Sudo email verification code",
    `Here is your sudo authentication code:

60718422

This code is valid for 15 minutes and can only be used once.

Please don't share this code with anyone: we'll never ask for it on the phone or via email.`,
    "60718422"
  ),
  mail(
    "en",
    "GitHub, email address",
    "[GitHub] Please verify your email address.",
    `<p>Almost done, <strong>@ada</strong>! To complete your sign up, we just need to verify your email address: <strong>ada@example.com</strong>.</p><p><a href="https://github.com/users/ada/emails/4182233/confirm_verification/0f4c3b2a19d8e7?via_launch_code_email=true">Verify email address</a></p><p>Once verified, you can start using all features.</p><p>Button not working? Paste the following link into your browser: https://github.com/users/ada/emails/4182233/confirm_verification/0f4c3b2a19d8e7?via_launch_code_email=true</p><p><a href="https://github.com/settings/emails">Email preferences</a> · <a href="https://docs.github.com/terms">Terms</a></p>`,
    null,
    "https://github.com/users/ada/emails/4182233/confirm_verification/0f4c3b2a19d8e7?via_launch_code_email=true"
  ),
  mail(
    "en",
    "GitHub, launch code",
    "🚀 Your GitHub launch code",
    `<table><tr><td><h1>Here's your GitHub launch code!</h1><p>Continue signing up for GitHub by entering the code below:</p><h2 style="letter-spacing:4px">83920156</h2><p>If you didn't request this email, there's nothing to worry about, you can safely ignore it.</p></td></tr>${FOOTER}</table>`,
    "83920156"
  ),
  mail(
    "en",
    "Google, verification",
    "G-551204 is your Google verification code",
    "G-551204 is your Google verification code. Don't share your code with anyone.",
    "551204"
  ),
  mail(
    "en",
    "Google, email ownership",
    "Email Verification Code: 730184",
    `Dear Google user,

We received a request to access your Google Account ada@example.com through your email address. Your Google verification code is:

730184

If you did not request this code, it is possible that someone else is trying to access the Google Account ada@example.com. Do not forward or give this code to anyone.

Sincerely yours,
The Google Accounts team

This email can't receive replies. Google LLC, 1600 Amphitheatre Parkway, Mountain View, CA 94043, USA`,
    "730184"
  ),
  mail(
    "en",
    "Microsoft, single-use code",
    "Your single-use code",
    `Hi ad**l@example.com,

We received your request for a single-use code to use with your Microsoft account.

Your single-use code is: 104477

Only enter this code on an official website or app. Don't share it with anyone. We'll never ask for it outside an official platform.

Thanks,
The Microsoft account team

Privacy Statement: https://go.microsoft.com/fwlink/?LinkId=521839
Microsoft Corporation, One Microsoft Way, Redmond, WA 98052`,
    "104477"
  ),
  mail(
    "en",
    "Microsoft, security code",
    "Microsoft account security code",
    `<table><tr><td>Microsoft account</td></tr><tr><td>Security code</td></tr><tr><td>Please use the following security code for the Microsoft account ad**l@example.com.</td></tr><tr><td>Security code: <span style="font-weight:bold">4417</span></td></tr><tr><td>If you don't recognize the account, you can <a href="https://account.live.com/dp?ft=-DUmy1Aa2Kq9">click here</a> to remove your email address from it.</td></tr></table>`,
    "4417"
  ),
  mail(
    "en",
    "Microsoft Entra, invitation code",
    "Your Contoso account verification code",
    `<table><tr><td>Account verification code</td></tr><tr><td>To access Contoso's apps and resources, please use the code below for account verification. The code will only work for 30 minutes.</td></tr><tr><td>Account verification code:</td></tr><tr><td>73920418</td></tr><tr><td>If you didn't request a code, you can ignore this email.</td></tr></table>`,
    "73920418"
  ),
  mail(
    "en",
    "Apple, ID verification",
    "Verify your Apple Account email address.",
    `Dear Ada,

You have selected this email address as your new Apple Account. To verify this email address belongs to you, enter the code below on the email verification page:

910273

This code will expire three hours after this email was sent.

Why you received this email.
Apple requires verification whenever an email address is selected as an Apple Account. Your account cannot be used until you verify it.

Apple Account: https://account.apple.com
Copyright © 2026 Apple Inc. One Apple Park Way, Cupertino, CA 95014`,
    "910273"
  ),
  mail(
    "en",
    "Apple, domain-bound text",
    "Apple ID code",
    `Your Apple ID Code is: 220918. Don't share it with anyone.

@apple.com #220918 %apple.com`,
    "220918"
  ),
  mail(
    "en",
    "Amazon, sign-in",
    "amazon.com: Sign-in attempt",
    `Someone who knows your password is attempting to sign-in to your account.

When: Oct 12, 2026 02:14 PM Pacific Daylight Time
Device: Google Chrome Mac OS X (Desktop)
Near: California, United States

If this was you, your verification code is: 304918

If not: click here to deny. Don't share this code with others. https://www.amazon.com/a/c/r?k=s9FzX2Qq71`,
    "304918"
  ),
  mail(
    "en",
    "Amazon, new account",
    "Verify your new Amazon account",
    `<table><tr><td><img alt="amazon"></td></tr><tr><td>To verify your email address, please use the following One Time Password (OTP):</td></tr><tr><td><p>672940</p></td></tr><tr><td>Don't share this OTP with anyone. Amazon takes your account security very seriously.</td></tr></table>`,
    "672940"
  ),
  mail(
    "en",
    "AWS, new account",
    "AWS Email Verification",
    `<table><tr><td><h1>Verify your email address</h1><p>Thanks for starting the new AWS account creation process. We want to make sure it's really you. Please enter the following verification code when prompted.</p><div>Verification code</div><div style="font-size:36px">917204</div><div>(This code is valid for 10 minutes)</div><p>Amazon Web Services will never email you and ask you to disclose your password, credit card, or banking account number.</p></td></tr><tr><td>AWS, 410 Terry Ave. North, Seattle, WA 98109-5210</td></tr></table>`,
    "917204"
  ),
  mail("en", "Cognito, default message", "Your verification code", "Your confirmation code is 739204", "739204"),
  mail(
    "en",
    "Cognito, temporary password",
    "Your temporary password",
    "Your username is ada and temporary password is Qm7xK2pv.",
    "Qm7xK2pv"
  ),
  mail(
    "en",
    "Cognito, link",
    "Your verification link",
    `<p>Please click the link below to verify your email address. <a href="https://auth.shop.example/confirmUser?client_id=3n4b5urk1ft4fl3mg5e62d9ado&user_name=0bd07d8c-6c1f-4b71-9f0e-2a1b3c4d5e6f&confirmation_code=739204">Verify Email</a></p>`,
    null,
    "https://auth.shop.example/confirmUser?client_id=3n4b5urk1ft4fl3mg5e62d9ado&user_name=0bd07d8c-6c1f-4b71-9f0e-2a1b3c4d5e6f&confirmation_code=739204"
  ),
  mail(
    "en",
    "Stripe, sign-in code",
    "Your Stripe verification code",
    `<table><tr><td>Hello,</td></tr><tr><td>Use the following code to verify your login:</td></tr><tr><td><b>339 104</b></td></tr><tr><td>This code expires in 10 minutes. If you didn't try to log in, <a href="https://support.stripe.com/contact">contact support</a>.</td></tr><tr><td>Stripe, 354 Oyster Point Blvd, South San Francisco, CA 94080</td></tr></table>`,
    "339104"
  ),
  mail(
    "en",
    "Stripe, confirm address",
    "Confirm your email address",
    `Hi Ada,

Thanks for creating a Stripe account. Before you can accept live payments, please confirm your email address.

Confirm your email address <https://dashboard.stripe.com/confirm_email?t=aBcDeFg1HiJk2LmNoPqRs3TuV>

Visit our support site <https://support.stripe.com> if you have questions.

Stripe, 354 Oyster Point Blvd, South San Francisco, CA 94080`,
    null,
    "https://dashboard.stripe.com/confirm_email?t=aBcDeFg1HiJk2LmNoPqRs3TuV"
  ),
  mail(
    "en",
    "Link by Stripe",
    "Your Link verification code is 918 206",
    "918 206 is your Link verification code. Link will never call or text you for it. Reply STOP to opt out.",
    "918206"
  ),
  both(
    "en",
    "Slack, confirmation code",
    "Slack confirmation code: J7K-QW2",
    [
      `Confirm your email address

Your confirmation code is below — enter it in your open browser window and we'll help you get signed in.

J7K-QW2

Questions about setting up Slack? Email us at feedback@slack.com
If you didn't request this email, there's nothing to worry about — you can safely ignore it.

Made by Slack Technologies, LLC
500 Howard Street | San Francisco, CA 94105 | United States`,
      `<h1>Confirm your email address</h1><p>Your confirmation code is below — enter it in your open browser window and we'll help you get signed in.</p><div style="background:#f5f4f5">J7K-QW2</div><p>Questions? <a href="mailto:feedback@slack.com">Email us</a></p>`
    ],
    "J7KQW2"
  ),
  mail(
    "en",
    "Slack, letters alone",
    "Slack confirmation code: MQR-TBD",
    `<h1>Confirm your email address</h1><p>Your confirmation code is below — enter it in your open browser window.</p><div>MQR-TBD</div><p>Slack Technologies, 500 Howard Street</p>`,
    "MQRTBD"
  ),
  mail(
    "en",
    "Slack, magic link",
    "Sign in to Slack",
    `<h1>Sign in to Slack</h1><p>You asked us to send you a link to sign in.</p><p><a href="https://acme.slack.com/z-app-1029384756-5647382910-a1b2c3d4e5?s=magic">Sign in to Acme</a></p><p>The link works once, within the next 24 hours.</p><p><a href="https://slack.com/help">Help Center</a></p>`,
    null,
    "https://acme.slack.com/z-app-1029384756-5647382910-a1b2c3d4e5?s=magic"
  ),
  mail(
    "en",
    "Discord, new location",
    "Verify Discord Login from New Location",
    `Hey Ada,

It looks like someone tried to log into your Discord account from a new location. If this is you, follow the link below to authorize logging in from this location on your account. If this isn't you, we suggest changing your password as soon as possible.

IP Address: 198.51.100.23
Location: Berlin, Germany

Verify Login: https://click.discord.com/ls/click?upn=u001.Kq3vZ8aB1cD2eF3gH4iJ5kL6mN7oP8

Sent by Discord • 444 De Haro St., Suite 200, San Francisco, CA 94107`,
    null,
    "https://click.discord.com/ls/click?upn=u001.Kq3vZ8aB1cD2eF3gH4iJ5kL6mN7oP8"
  ),
  mail(
    "en",
    "Discord, one-time code",
    "Your one-time verification code is 774120",
    "Your Discord one-time verification code is 774120. It's valid for 10 minutes.",
    "774120"
  ),
  mail(
    "en",
    "Notion, login code",
    "Your temporary Notion login code is k4n7q2",
    `<h1>Login</h1><p><a href="https://www.notion.so/loginwithemail?state=9b1c2d3e4f5a6b7c8d9e&password=k4n7q2">Click here to log in with this magic link</a></p><p>Or, copy and paste this temporary login code:</p><code>k4n7q2</code><p>If you didn't try to log in, you can safely ignore this email.</p><p>Hint: You can set a permanent password in Settings &amp; members → My account.</p>`,
    "k4n7q2",
    "https://www.notion.so/loginwithemail?state=9b1c2d3e4f5a6b7c8d9e&password=k4n7q2"
  ),
  mail(
    "en",
    "Notion, digits",
    "Your Notion signup code is 520917",
    `Sign up

Copy and paste this temporary sign up code:
520917

If you didn't try to sign up, you can safely ignore this email.

Notion.so, the connected workspace`,
    "520917"
  ),
  mail(
    "en",
    "Figma, verify",
    "Verify your email for Figma",
    `<p>Hi there,</p><p>Tap the button below to verify your email address and start designing.</p><p><a href="https://www.figma.com/validate_email?token=5c7e9f1a2b3d4c5e6f7a8b9c0d1e2f3a">Verify email</a></p><p>Figma, 760 Market Street Floor 10, San Francisco, CA 94102</p>`,
    null,
    "https://www.figma.com/validate_email?token=5c7e9f1a2b3d4c5e6f7a8b9c0d1e2f3a"
  ),
  mail(
    "en",
    "OpenAI, code",
    "Your ChatGPT code is 611823",
    `<table><tr><td><p style="color:#353740">Enter this temporary verification code to continue:</p><p style="font-family:monospace;background-color:#F3F3F3;color:#202123;font-size:24px">611823</p><p>Please ignore this email if this wasn't you trying to create a ChatGPT account.</p><p>Best,<br>The ChatGPT team</p><p><a href="https://help.openai.com">Help center</a></p></td></tr></table>`,
    "611823"
  ),
  mail(
    "en",
    "OpenAI, API login",
    "OpenAI - Verify your email",
    `<h1 style="color:#202123">Verify your email address</h1><p>To continue setting up your OpenAI account, please verify that this is your email address.</p><p><a href="https://auth0.openai.com/u/email-verification?ticket=uT8vYxQ2bWc9dEf1GhJk#" style="background:#10A37F">Verify email address</a></p><p>This link will expire in 5 days. If you did not make this request, please disregard this email. For help, contact us through our <a href="https://help.openai.com">Help center</a>.</p>`,
    null,
    "https://auth0.openai.com/u/email-verification?ticket=uT8vYxQ2bWc9dEf1GhJk#"
  ),
  mail(
    "en",
    "Anthropic, magic link",
    "Secure link to log in to Claude.ai",
    `<h1>Let's get you signed in</h1><p>Sign in with the secure link below</p><p><a href="https://claude.ai/magic-link#0a1b2c3d4e5f60718293a4b5c6d7e8f9:YWRhQGV4YW1wbGUuY29t">Sign in to Claude.ai</a></p><p>If you didn't request this email, you can safely ignore it.</p><p>© 2026 ANTHROPIC PBC, 548 Market Street, PMB 90375, San Francisco, CA 94104</p>`,
    null,
    "https://claude.ai/magic-link#0a1b2c3d4e5f60718293a4b5c6d7e8f9:YWRhQGV4YW1wbGUuY29t"
  ),
  mail(
    "en",
    "Auth0, verification code",
    "Your verification code for Shop",
    `Welcome to Shop!

Your email verification code is: 204951

Use this code to complete your sign up.

Thanks!
Shop team

If you did not make this request, please contact us by replying to this mail.`,
    "204951"
  ),
  mail(
    "en",
    "Auth0, passwordless",
    "Welcome to Shop",
    `<h1>Welcome to Shop!</h1><p>Your verification code is: <strong>118824</strong></p><p>If you are having any issues with your account, please don't hesitate to contact us by replying to this mail.</p><p>Thanks!<br>Shop</p>`,
    "118824"
  ),
  mail(
    "en",
    "Auth0, link",
    "Verify your email",
    `<p>Your account information</p><table><tr><td>Account</td><td>ada@example.com</td></tr><tr><td>Verify Link</td><td><a href="https://shop.eu.auth0.com/u/email-verification?ticket=QJ3hmTg9w0b7Zc2x">Verify your account</a></td></tr></table><p>If you did not make this request, please contact us by replying to this mail.</p>`,
    null,
    "https://shop.eu.auth0.com/u/email-verification?ticket=QJ3hmTg9w0b7Zc2x"
  ),
  mail(
    "en",
    "Okta, one-time code",
    "One-time verification code",
    `<p>Hi Ada,</p><p>You have requested an email link to sign in to Acme. To finish signing in, click the button below or enter the provided code. If you did not request this email, please contact an administrator at admin@acme.example.</p><p><a href="https://acme.okta.example/email/verify/eml1x2y3z4/00aBcDeFgHiJkLmNoPqR?token=948201">Sign In</a></p><p>This link expires in 5 minutes.</p><p>Can't use the link? Enter a code instead: <b>948201</b></p><p>This is an automatically generated message from Okta. Replies are not monitored or answered.</p>`,
    "948201",
    "https://acme.okta.example/email/verify/eml1x2y3z4/00aBcDeFgHiJkLmNoPqR?token=948201"
  ),
  mail(
    "en",
    "Okta, activation",
    "Welcome to Okta!",
    `<p>Hi Ada,</p><p>Your organization is using Okta to manage your web applications. Your Okta username is ada@acme.example.</p><p>Click the following link to activate your Okta account:</p><p><a href="https://acme.okta.example/welcome/XE6wE17zmphl3KqAPFxO">Activate Okta Account</a></p><p>This link expires in 7 days. Your organization's sign-in page is <a href="https://acme.okta.example">https://acme.okta.example</a></p>`,
    null,
    "https://acme.okta.example/welcome/XE6wE17zmphl3KqAPFxO"
  ),
  mail(
    "en",
    "Clerk, code",
    "117402 is your verification code",
    `<h1>Verification code</h1><p>Enter the following verification code when prompted:</p><p style="font-size:32px"><b>117402</b></p><p>To protect your account, do not share this code.</p><h2>Didn't request this?</h2><p>This code was requested from <b>198.51.100.7, Berlin, DE</b> at <b>12 October 2026, 09:14 UTC</b>. If you didn't make this request, you can safely ignore this email.</p>`,
    "117402"
  ),
  mail(
    "en",
    "Clerk, magic link",
    "Sign in to Shop",
    `<h1>Sign in to Shop</h1><p><a href="https://clerk.shop.example/v1/verify?_clerk_js_version=5.11.0&token=eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJhIjoxfQ.c2ln">Sign in</a></p><p>If you're having trouble with the above button, <a href="https://clerk.shop.example/v1/verify?_clerk_js_version=5.11.0&token=eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJhIjoxfQ.c2ln">click here</a>.</p>`,
    null,
    "https://clerk.shop.example/v1/verify?_clerk_js_version=5.11.0&token=eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJhIjoxfQ.c2ln"
  ),
  mail(
    "en",
    "Supabase, confirm signup",
    "Confirm Your Signup",
    `<h2>Confirm your signup</h2><p>Follow this link to confirm your user:</p><p><a href="https://abcdefghij.supabase.co/auth/v1/verify?token=pkce_4f5e6d7c8b9a0f1e2d3c&type=signup&redirect_to=https://shop.example">Confirm your mail</a></p>`,
    null,
    "https://abcdefghij.supabase.co/auth/v1/verify?token=pkce_4f5e6d7c8b9a0f1e2d3c&type=signup&redirect_to=https://shop.example"
  ),
  mail(
    "en",
    "Supabase, magic link with code",
    "Your Magic Link",
    `<h2>Magic Link</h2><p>Follow this link to login:</p><p><a href="https://abcdefghij.supabase.co/auth/v1/verify?token=8b9a0f1e2d3c&type=magiclink">Log In</a></p><p>Alternatively, enter the code: 503118</p>`,
    "503118",
    "https://abcdefghij.supabase.co/auth/v1/verify?token=8b9a0f1e2d3c&type=magiclink"
  ),
  mail(
    "en",
    "Supabase, reauthentication",
    "Confirm Reauthentication",
    `<h2>Confirm reauthentication</h2><p>Enter the code: 882031</p>`,
    "882031"
  ),
  mail(
    "en",
    "Firebase, verify",
    "Verify your email for shop-prod",
    `Hello Ada,

Follow this link to verify your email address.

https://shop-prod.firebaseapp.com/__/auth/action?mode=verifyEmail&oobCode=Zx9wV8uT7sR6qP5oN4mL&apiKey=AIzaSyA1b2C3d4&lang=en

If you didn't ask to verify this address, you can ignore this email.

Thanks,

Your shop-prod team`,
    null,
    "https://shop-prod.firebaseapp.com/__/auth/action?mode=verifyEmail&oobCode=Zx9wV8uT7sR6qP5oN4mL&apiKey=AIzaSyA1b2C3d4&lang=en"
  ),
  mail(
    "en",
    "Firebase, password",
    "Reset your password for shop-prod",
    `Hello,

Follow this link to reset your shop-prod password for your ada@example.com account.

https://shop-prod.firebaseapp.com/__/auth/action?mode=resetPassword&oobCode=B1c2D3e4F5g6H7i8J9k0&lang=en

If you didn't ask to reset your password, you can ignore this email.`,
    null,
    "https://shop-prod.firebaseapp.com/__/auth/action?mode=resetPassword&oobCode=B1c2D3e4F5g6H7i8J9k0&lang=en"
  ),
  mail(
    "en",
    "Keycloak, verify",
    "Verify email",
    `Someone has created a Shop account with this email address. If this was you, click the link below to verify your email address

https://id.shop.example/realms/shop/login-actions/action-token?key=eyJhbGciOiJIUzUxMiJ9.eyJleHAiOjE3.kYq8&client_id=account&tab_id=X1y2Z3

This link will expire within 5 minutes.

If you didn't create this account, just ignore this message.`,
    null,
    "https://id.shop.example/realms/shop/login-actions/action-token?key=eyJhbGciOiJIUzUxMiJ9.eyJleHAiOjE3.kYq8&client_id=account&tab_id=X1y2Z3"
  ),
  mail(
    "en",
    "Keycloak, code",
    "Verify email",
    `Please verify your email address by entering in the following code.

290441`,
    "290441"
  ),
  mail(
    "en",
    "django-allauth, sign-in code",
    "[shop.example] Sign-In Code",
    `Hello from shop.example!

Your sign-in code is listed below. Please enter it in your open browser window.

WJR7KT

This mail can be safely ignored if you did not initiate this action.

Thank you for using shop.example!
shop.example`,
    "WJR7KT"
  ),
  mail(
    "en",
    "django-allauth, letters",
    "[shop.example] Email Verification Code",
    `Hello from shop.example!

You're receiving this email because you or someone else is trying to sign up for an account. Your email verification code is listed below. Please enter it in your open browser window.

XKQ-VDLF

This mail can be safely ignored if you did not initiate this action.

Thank you for using shop.example!`,
    "XKQVDLF"
  ),
  mail(
    "en",
    "django-allauth, dashed letters",
    "[shop.example] Password Reset Code",
    `Hello from shop.example!

You've requested to reset your password. Your password reset code is listed below. Please enter it in your open browser window.

WDJB-MJHT

This mail can be safely ignored if you did not initiate this action.`,
    "WDJBMJHT"
  ),
  mail(
    "en",
    "django-allauth, link",
    "[shop.example] Please Confirm Your Email Address",
    `Hello from shop.example!

You're receiving this email because user ada has given your email address to register an account on shop.example.

To confirm this is correct, go to https://shop.example/accounts/confirm-email/MTI:1tQx3K:9fK2mXvB7qLsW0eRzYtUiOpA/

Thank you for using shop.example!
shop.example`,
    null,
    "https://shop.example/accounts/confirm-email/MTI:1tQx3K:9fK2mXvB7qLsW0eRzYtUiOpA/"
  ),
  mail(
    "en",
    "Rails Devise, confirmation",
    "Confirmation instructions",
    `<p>Welcome ada@example.com!</p><p>You can confirm your account email through the link below:</p><p><a href="https://shop.example/users/confirmation?confirmation_token=yL3VzKx8mQdP1sTwRb2N">Confirm my account</a></p>`,
    null,
    "https://shop.example/users/confirmation?confirmation_token=yL3VzKx8mQdP1sTwRb2N"
  ),
  mail(
    "en",
    "Rails Devise, password",
    "Reset password instructions",
    `<p>Hello ada@example.com!</p><p>Someone has requested a link to change your password. You can do this through the link below.</p><p><a href="https://shop.example/users/password/edit?reset_password_token=s8Kq2LmXv9TzBn4RcWpY">Change my password</a></p><p>If you didn't request this, please ignore this email.</p>`,
    null,
    "https://shop.example/users/password/edit?reset_password_token=s8Kq2LmXv9TzBn4RcWpY"
  ),
  mail(
    "en",
    "Laravel, verify",
    "Verify Email Address",
    `Shop: https://shop.example

# Hello!

Please click the button below to verify your email address.

Verify Email Address: https://shop.example/email/verify/1042/5f2c8e0b7a91d3c4e6f80112233445566778899a?expires=1791800000&signature=0b1c2d3e4f

If you did not create an account, no further action is required.

Regards,
Shop

© 2026 Shop. All rights reserved.`,
    null,
    "https://shop.example/email/verify/1042/5f2c8e0b7a91d3c4e6f80112233445566778899a?expires=1791800000&signature=0b1c2d3e4f"
  ),
  mail(
    "en",
    "WorkOS, magic auth",
    "Your sign-in code for Shop",
    `<h1>Sign in to Shop</h1><p>Enter the following code to sign in:</p><table><tr><td>7</td><td>3</td><td>9</td><td>2</td><td>0</td><td>4</td></tr></table><p>This code expires in 10 minutes.</p><p>WorkOS, 548 Market St, PMB 86125, San Francisco, CA 94104</p>`,
    "739204"
  ),
  mail(
    "en",
    "Steam Guard",
    "Your Steam account: Access from new computer",
    `<table><tr><td>ada_l,</td></tr><tr><td>It looks like you are trying to log in from a new device. Here is the Steam Guard code you need to access your account:</td></tr><tr><td>Login Code</td></tr><tr><td>R7TWK</td></tr><tr><td>If this wasn't you: this email was generated because of a login attempt from 198.51.100.23 on Mon, 12 Oct 2026.</td></tr><tr><td>© Valve Corporation. PO Box 1688, Bellevue, WA 98009</td></tr></table>`,
    "R7TWK"
  ),
  mail(
    "en",
    "Epic Games, sign-in code",
    "Your two-factor sign in code",
    `<h1>Two-factor sign in code</h1><p>YOUR TWO-FACTOR SIGN IN CODE</p><div style="font-size:40px">206 481</div><p>You requested to sign in to your Epic Games account with the security code above. Please enter it within 10 minutes.</p><p>© 2026, Epic Games, Inc. All rights reserved.</p>`,
    "206481"
  ),
  mail(
    "en",
    "Nintendo, verification",
    "[Nintendo Account] E-mail address verification",
    `Please enter the verification code below to verify your e-mail address.

Verification code:
4819

Please note that this code expires in about an hour.

If you did not request this, please disregard this message.
-----------------------------------
Nintendo Customer Support 1-800-255-3700`,
    "4819"
  ),
  mail(
    "en",
    "Twitch, login",
    "661204 – Your Twitch Login Verification Code",
    `<p>Hello ada,</p><p>We noticed a login to your account from a new device. To verify it, please enter this code:</p><p style="letter-spacing:8px">661204</p><p>If this was not you, please change your password. Twitch Interactive, Inc., 350 Bush Street, 2nd Floor, San Francisco, CA 94104</p>`,
    "661204"
  ),
  mail(
    "en",
    "X, confirmation",
    "551 889 is your X verification code".replace("551 889", "551889"),
    `Confirm your email address

There's one quick step you need to complete before creating your X account. Let's make sure this is the right email address for you — please confirm this is the right address to use for your new account.

Please enter this verification code to get started on X:

551889

Verification codes expire after two hours.

Thanks,
X`,
    "551889"
  ),
  mail(
    "en",
    "Instagram, code",
    "319 042 is your Instagram code",
    `<p>Hi,</p><p>Someone tried to sign up for an Instagram account with ada@example.com. If it was you, enter this confirmation code in the app:</p><p>319042</p><p>© Instagram. Meta Platforms, Inc., 1601 Willow Road, Menlo Park, CA 94025</p>`,
    "319042"
  ),
  mail(
    "en",
    "Facebook, recovery",
    "FB-48291 is your Facebook account recovery code",
    `Hi Ada,
We received a request to reset your Facebook password.
Enter the following password reset code: 48291
Alternatively, you can directly change your password: https://www.facebook.com/recover/code/?u=100012345678901&n=48291&s=23
Meta Platforms, Inc., Attention: Community Support, 1 Meta Way, Menlo Park, CA 94025`,
    "48291",
    "https://www.facebook.com/recover/code/?u=100012345678901&n=48291&s=23"
  ),
  mail(
    "en",
    "LinkedIn, pin",
    "Ada, here's your PIN 738120",
    `Hi Ada,

Please use this verification code to complete your sign in: 738120

This code will expire in 15 minutes.

When and where this happened:
Date: October 12, 2026, 9:14 AM (GMT)
Operating System: Linux
Approximate Location: Berlin, Germany

Didn't do this? Be sure to change your password right away: https://www.linkedin.com/e/v2?e=-k1l2m3-x&lipi=urn
© 2026 LinkedIn Corporation, 1000 West Maude Avenue, Sunnyvale, CA 94085.`,
    "738120"
  ),
  mail(
    "en",
    "PayPal, code",
    "Your PayPal security code",
    "PayPal: Your security code is 104 882. It expires in 10 minutes. Don't share this code with anyone.",
    "104882"
  ),
  mail(
    "en",
    "Uber, code",
    "Welcome to Uber",
    `Your Uber code is 4472. Never share this code.

Uber Technologies Inc.
1515 3rd Street, San Francisco, CA 94158`,
    "4472"
  ),
  mail(
    "en",
    "Airbnb, code",
    "Your Airbnb verification code is 660 219".replace("660 219", "660219"),
    `660219 is your Airbnb verification code. Enter it in the app to finish signing up. Didn't ask for one? You can ignore this message.`,
    "660219"
  ),
  mail(
    "en",
    "Vercel, sign-in",
    "Vercel Sign-in Verification",
    `To complete the sign-in process, enter the 6-digit code in the original window:

204 118

Or approve it by opening this link: https://vercel.com/notifications/continue-login?email=ada%40example.com&token=QwErTy12UiOpAsDf34

The request came from Berlin, DE at 09:14 GMT. If it was not you, ignore this email.`,
    "204118",
    "https://vercel.com/notifications/continue-login?email=ada%40example.com&token=QwErTy12UiOpAsDf34"
  ),
  mail(
    "en",
    "Linear, code",
    "Log in to Linear",
    `<h1>Your login code for Linear</h1><p><a href="https://linear.app/auth/email/ada%40example.com/9f8e7d6c-5b4a">Login to Linear</a></p><p>This link and code will only be valid for the next 5 minutes. If the link does not work, you can use the login verification code directly:</p><p><code>tybnq-mgrfs</code></p>`,
    null,
    "https://linear.app/auth/email/ada%40example.com/9f8e7d6c-5b4a"
  ),
  mail(
    "en",
    "Cloudflare Access",
    "Your Acme login code: 330917",
    `<p>Your login code for Acme</p><p>330917</p><p>Alternatively, <a href="https://acme.cloudflareaccess.com/cdn-cgi/access/callback?nonce=a1b2c3d4e5f6a7b8&code=330917">click here to log in</a>.</p><p>This code expires in 10 minutes.</p><p>Cloudflare, Inc., 101 Townsend St, San Francisco, CA 94107</p>`,
    "330917",
    "https://acme.cloudflareaccess.com/cdn-cgi/access/callback?nonce=a1b2c3d4e5f6a7b8&code=330917"
  ),
  mail(
    "en",
    "Atlassian, sign-up",
    "Your Atlassian verification code: 8KQ2MX",
    `<p>Hi Ada,</p><p>Here's your verification code:</p><p><strong>8KQ2MX</strong></p><p>It expires in 10 minutes. Enter it to finish logging in.</p>`,
    "8KQ2MX"
  ),
  mail(
    "en",
    "Dropbox, code",
    "Your Dropbox security code",
    `Hi Ada,

Use 917 402 as your Dropbox security code. It'll expire in 15 minutes.

Happy Dropboxing!`,
    "917402"
  ),
  mail(
    "en",
    "Zoom, OTP",
    "Code for signing in to Zoom",
    `<p>Zoom</p><p>Your one-time password to sign in is:</p><p style="color:#131619;font-size:28px">550 118</p><p>+1.888.799.9666 · © 2026 Zoom Communications, Inc., 55 Almaden Blvd, San Jose, CA 95113</p>`,
    "550118"
  ),
  mail(
    "en",
    "npm, one-time password",
    "OTP for logging in to your account: ada",
    `Hi ada,

Please use this one-time password (OTP) to log in to your npm account:

90817263

This OTP is valid for 10 minutes.

If you have questions or concerns, get in touch with npm support: https://www.npmjs.com/support
Cheers, npm`,
    "90817263"
  ),
  mail("en", "Docker, code", "Docker: your code", "Use verification code 118420 for your Docker ID ada1985.", "118420"),
  mail(
    "en",
    "Coinbase, device",
    "New device confirmation",
    `<p>We noticed an attempt to sign in from a new device or location.</p><table><tr><td>Device</td><td>chrome (Linux)</td></tr><tr><td>IP address</td><td>198.51.100.23</td></tr><tr><td>Time</td><td>2026-10-12 09:14:22 UTC</td></tr></table><p><a href="https://www.coinbase.com/device_confirmations/confirm?token=7f3d1b9c-5e2a-48f6">Yes, this was me. Authorize device</a></p><p><a href="https://www.coinbase.com/device_confirmations/lock?token=7f3d1b9c-5e2a-48f6">This was not me</a></p>`,
    null,
    "https://www.coinbase.com/device_confirmations/confirm?token=7f3d1b9c-5e2a-48f6"
  ),
  mail(
    "en",
    "Substack, sign-in",
    "Sign in to Substack",
    `<p>Click the link below to sign in to Substack.</p><p><a href="https://email.mg1.substack.com/c/eJxVkMuOhCAQRb-1a2b3c4d5e6f7g8">Sign in now</a></p><p>Or use this code:</p><p>117 902</p><p>This link and code expire in an hour.</p>`,
    "117902",
    "https://email.mg1.substack.com/c/eJxVkMuOhCAQRb-1a2b3c4d5e6f7g8"
  ),
  mail(
    "en",
    "Medium, sign-in",
    "Sign in to Medium",
    `<h1>Sign in to Medium</h1><p><a href="https://medium.com/m/callback/email?token=4c8e2f1a9b7d&operation=login&state=medium">Sign in to Medium</a></p><p>This link will expire in 2 hours. Or use the code:</p><p>No code needed on this device.</p><p><a href="https://help.medium.com/hc/en-us">Help</a> · <a href="https://policy.medium.com/medium-privacy-policy-f03bf92035c9">Privacy policy</a></p>`,
    null,
    "https://medium.com/m/callback/email?token=4c8e2f1a9b7d&operation=login&state=medium"
  ),
  mail(
    "en",
    "Ory Kratos, verification",
    "Use code 530817 to verify your account",
    `Hi, please verify your account by entering the following code:

530817

or clicking the following link:

https://id.shop.example/self-service/verification?code=530817&flow=0d4c9f2e-7b1a-4f53-8a6e-1c2d3e4f5a6b`,
    "530817",
    "https://id.shop.example/self-service/verification?code=530817&flow=0d4c9f2e-7b1a-4f53-8a6e-1c2d3e4f5a6b"
  ),
  mail(
    "en",
    "bank, phone number behind",
    "Your one-time passcode",
    "BANK: Enter code 678456 (expires in 30 min) on bank.example. We will not call to ask you for the code. Questions? Call 800.555.0199",
    "678456"
  ),
  mail(
    "en",
    "bank, date behind",
    "Verification",
    "Verification Code: 287961 Expiration Date: 4/30/2026 10:02:26 AM Mountain Standard Time. BANK will never contact you for this code.",
    "287961"
  ),
  mail(
    "en",
    "bank, card and code",
    "Online purchase",
    "Your passcode is 774411 for a purchase of $1,249.00 at SHOP on your card ending 4821. Never share it.",
    "774411"
  ),
  mail(
    "en",
    "account number before the code",
    "Login request",
    `We received a login request for account 99887766.

Verification code: 482913`,
    "482913"
  ),
  mail(
    "en",
    "order number in one sentence",
    "Confirm your delivery",
    "Your verification code for order 48127733 is 739204. Read it to the driver.",
    "739204"
  ),
  mail(
    "en",
    "hard-wrapped lines",
    "Sign-in",
    `Somebody asked to sign in to your Example account. Your verification
code is 482913. It is valid for 10 minutes from 12 October 2026, and
it works only once.`,
    "482913"
  ),
  mail(
    "en",
    "subject only",
    "482913 is your Example code",
    `Somebody asked to sign in to Example with this address. If it was not you, ignore this mail.

Example Ltd, 21 Baker Street, London NW1 6XE`,
    "482913"
  ),
  mail("en", "Markdown", "Your code", "**Your code:** `K7M2P9`\n\nIt expires in 10 minutes.", "K7M2P9"),
  mail(
    "en",
    "grouped by a dash",
    "Login",
    "Your login code is 739-204. If you did not ask for it, reset your password.",
    "739204"
  ),
  mail(
    "en",
    "grouped letters and digits",
    "Your access code",
    "To continue, enter the access code A1B-2C3 on the page that you have open.",
    "A1B2C3"
  ),
  mail("en", "lower case", "Your login code", "Your login code is k7m2p9.\nIt expires in 10 minutes.", "k7m2p9"),
  mail(
    "en",
    "spaced digits",
    "Confirm your sign-in",
    `Confirm your sign-in

Your code:

7 3 9 2 0 4

Copyright 2026 Example Inc.`,
    "739204"
  ),
  mail(
    "en",
    "spans per digit",
    "Your code",
    `<p>Your code is</p><p><span>4</span><span>8</span><span>2</span><span>9</span><span>1</span><span>3</span></p>`,
    "482913"
  ),
  mail(
    "en",
    "hidden preheader and zero-width characters",
    "Your code",
    `<div style="display:none">Use it within 10 minutes &zwnj;&nbsp;&zwnj;&nbsp;</div><table><tr><td>Verification code</td></tr><tr><td>48&#8203;29&#8203;13</td></tr></table>`,
    "482913"
  ),
  mail(
    "en",
    "browser link with a code",
    "Sign in",
    `View this email in your browser: https://e.example/123456?code=987654

Your sign-in code is 443322`,
    "443322"
  ),
  mail(
    "en",
    "password after a date",
    "Your one-time password",
    "Your one-time password expires at 15:30 on 12 October 2026.\n\nPassword: 90817263",
    "90817263"
  ),
  mail(
    "en",
    "table of fields",
    "Your login",
    `<table><tr><td>Account</td><td>88120033</td></tr><tr><td>Request</td><td>55190277</td></tr><tr><td>One-time code</td><td>739204</td></tr><tr><td>Valid until</td><td>2026-10-12 09:24</td></tr></table>`,
    "739204"
  ),
  mail("en", "nothing but a number", "Sign in to continue", "Sign in to continue.\n\n83920156\n\nBye.", "83920156"),
  mail("en", "use … as", "PIN", "Use 7312 as your PIN.", "7312"),
  mail("en", "four digits of a year's form", "Your PIN", "Your PIN is 2719. Keep it secret.", "2719")
]
