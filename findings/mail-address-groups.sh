#!/usr/bin/env bash
# Mail::Address of Perl (Debian 12, libmailtools-perl 2.21-2) makes a group's name a part of its first address.
#
# A group (RFC 5322, section 3.4) names several addresses, or none, as undisclosed-recipients does. The module returns
# "Team:ada@a.example" and "undisclosed-recipients:" as addresses. It also puts a space before the dot of a name, and name() is
# empty for a name in encoded words, though phrase() has it. Email::Address, of libemail-address-perl 1.913-1, reads these.
#
# Output:
#   Team: ada@a.example, bob@b.example;: Mail::Address Team:ada@a.example, bob@b.example; Email::Address ada@a.example, bob@b.example
#   undisclosed-recipients:;: Mail::Address undisclosed-recipients:; Email::Address none
#   Bob J. Smith <bob@b.example>: Mail::Address phrase "Bob J . Smith"; Email::Address phrase "Bob J. Smith"
set -euo pipefail
command -v apt-get >/dev/null && command -v perl >/dev/null || { echo "skipped: this needs perl, and apt-get of Debian 12"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cd "$folder"
# Into this folder only: nothing is installed.
apt-get -o APT::Sandbox::User=root -qq download libmailtools-perl=2.21-2 libemail-address-perl=1.913-1 ||
  { echo "skipped: apt has no such packages"; exit 0; }
for package in *.deb; do dpkg-deb -x "$package" .; done
cat >run.pl <<'PROGRAM'
use strict;
use warnings;
use Email::Address;
use Mail::Address;

sub expect {
    my ($label, $seen, $expected) = @_;
    print "$label: $seen\n";
    die "expected: $expected\n" if $seen ne $expected;
}
sub addresses {
    my ($class, $list) = @_;
    return join(", ", map { $_->address } $class->parse($list)) || "none";
}
my $team = 'Team: ada@a.example, bob@b.example;';
for ([$team, 'Team:ada@a.example, bob@b.example', 'ada@a.example, bob@b.example'],
    ["undisclosed-recipients:;", "undisclosed-recipients:", "none"]) {
    my ($list, $first, $second) = @$_;
    my $seen = "Mail::Address " . addresses("Mail::Address", $list) . "; Email::Address " . addresses("Email::Address", $list);
    expect($list, $seen, "Mail::Address $first; Email::Address $second");
}
my $list = 'Bob J. Smith <bob@b.example>';
my ($one, $other) = map { ($_->parse($list))[0]->phrase } ("Mail::Address", "Email::Address");
expect($list, qq(Mail::Address phrase "$one"; Email::Address phrase "$other"),
    'Mail::Address phrase "Bob J . Smith"; Email::Address phrase "Bob J. Smith"');
PROGRAM
perl -Iusr/share/perl5 run.pl
