#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Copyright (c) 2026 The Cogwheel authors
"""site.py [DIRECTORY=build/site]: writes the site to DIRECTORY/html, from the pages that docs/site/pages.txt lists, the
examples and the headers. Fails if Doxygen warns, or if a link leads nowhere."""

import html.parser
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

sys.dont_write_bytecode = True  # the source tree stays as it is

from site_search import add_guides

root = pathlib.Path(__file__).resolve().parent.parent
site = root / "docs/site"


# The names of the pages by their path, in the order of the menu.
guides = {
    path: name for name, path in re.findall(r"^(\w+) +(\S+)$", (site / "pages.txt").read_text(encoding="utf-8"), flags=re.M)
}
decisions = {f"docs/adr/{f.name}": f"adr_{f.name[:4]}" for f in sorted((root / "docs/adr").glob("0*.md"))}
guides |= decisions


def slug(heading):
    """The anchor of a heading, as GitHub makes it."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", plain.lower()).strip().replace(" ", "-")


def text_of(source):
    """The Markdown of a page. That of the folder of examples is only a heading: write_pages() adds the list."""
    return "# Examples\n\n" if source == "examples" else (root / source).read_text(encoding="utf-8")


def title(source):
    return re.search(r"^# (.+)$", text_of(source), re.M)[1]


def label(page, anchor):
    return f"{page}_{anchor}".replace("-", "_")


def examples():
    """The examples by name: their files, the one that is read first in front."""
    found = {}
    for path in sorted((root / "examples").iterdir()):
        if path.suffix == ".cpp":
            found[path.stem] = [path]
        elif path.is_dir():
            files = [f for f in sorted(path.rglob("*")) if f.suffix in (".cpp", ".hpp")]
            found[path.name] = sorted(files, key=lambda f: f.name != "main.cpp")
    return found


def example_of(path, known):
    parts = path.parts
    if len(parts) < 2 or parts[0] != "examples":
        return None
    name = pathlib.PurePath(parts[1]).stem
    return name if name in known else None


def outside_code(text, change):
    """Applies `change` to the parts of Markdown between blocks of code."""
    parts = re.split(r"(^```.*?^```$)", text, flags=re.M | re.S)
    return "".join(part if i % 2 else change(part) for i, part in enumerate(parts))


class converter:
    """Makes Doxygen's Markdown of ours: labels of headings, references in place of paths."""

    def __init__(self, known, pictures):
        self.known, self.pictures = known, pictures

    def link(self, source, match):
        picture, text, target = match.groups()
        if re.match(r"[a-z]+:", target):  # another site; or the brackets of a lambda
            return match.group(0)
        path, _, anchor = target.partition("#")
        at = pathlib.PurePath(source).parent if path else pathlib.PurePath(source)
        path = pathlib.PurePath(str((root / at / path).resolve().relative_to(root))) if path else at
        if picture:
            name = "-".join(path.parts[1:])  # two folders may have pictures of one name
            self.pictures[name] = root / path
            return f"![{text}]({name})"
        guide = next((g for g in (str(path), str(path / "index.md")) if g in guides), None)
        if guide:
            page = guides[guide]
            if re.fullmatch(r"[\w/.-]+\.md", text):
                text = title(guide)
            return f"[{text}](@ref {label(page, anchor) if anchor else page})"
        example = example_of(path, self.known)
        if example:
            return f"[{text}](@ref example_{example})"
        if path.suffix == ".hpp" and path.parts[0] == "include" and "detail" not in path.parts:
            return f"[{text}](@ref {path.name})"
        if not (root / path).exists():
            raise SystemExit(f"site: {source} links to {target}, which does not exist")
        return text

    def page(self, source):
        name = guides[source]
        original = text_of(source)
        number = re.search(r"^[^\s\d|].*\n\d+\. .*", original, flags=re.M)
        if number:
            raise SystemExit(f"site: {source} has a line that begins with a number and a dot, which makes it a list: {number[0]}")
        original = re.sub(r"^```mermaid\n.*?^```\n", "", original, flags=re.M | re.S)  # Doxygen shows its source
        links = re.compile(r"(!?)\[([^\]]+)\]\(([^)\s]+)\)")
        text = outside_code(original, lambda part: links.sub(lambda found: self.link(source, found), part))

        def heading(match):
            anchor = ("mainpage" if name == "index" else name) if match[1] == "#" else label(name, slug(match[2]))
            return f"{match[1]} {match[2]} {{#{anchor}}}"

        return outside_code(text, lambda part: re.sub(r"^(#{1,4}) (.+)$", heading, part, flags=re.M))


def first_words(path):
    """What the comment at the head of a source file says."""
    lines = path.read_text(encoding="utf-8").splitlines()[3:]
    said = []
    for line in lines:
        if not line.startswith("//"):
            break
        said.append(line[3:])
    return "\n".join(said)


def plain(text):
    """For Markdown that Doxygen reads."""
    return re.sub(r"([\\@<>]|--)", r"\\\1", text)


def first_sentence(path):
    """The first sentence at the head of a source file, without the name of the program."""
    said = re.sub(r"^\w+: ", "", " ".join(first_words(path).split()))
    if not said:
        raise SystemExit(f"site: {path} does not say what it is")
    return said[0].upper() + re.split(r"(?<=[.])\s", said[1:])[0]


def needs(name):
    """What a project links for an example, as examples/CMakeLists.txt has it."""
    rules = (root / "examples/CMakeLists.txt").read_text(encoding="utf-8")
    groups = {group: names.split() for group, names in re.findall(r"^set\((\w+) ([\w ]+)\)$", rules, flags=re.M)}
    core = "wheel" if name in groups["core_only"] else "boost" if name in groups["with_boost"] else "cogwheel"
    further = [p for p, group in (("observe", "with_metrics"), ("tasks", "with_tasks"), ("durable", "with_durable")) if name in groups[group]]
    needed = ", ".join(f"`cogwheel::{part}`" for part in [core, *further])
    return needed if name in groups["alone"] else needed + " and `fmt::fmt` (Debian: `libfmt-dev`)"


def support_files():
    """What programs share. The tests' builds alone use precompiled.hpp."""
    return [f for f in sorted((root / "support").glob("*.hpp")) if f.name != "precompiled.hpp"]


def support_anchor(file):
    return label("example_support", file.name.replace(".", "_"))


def code_of(file):
    """A whole file. Not by \\include: Doxygen 1.9.4 doubles each backslash then."""
    return "```cpp\n" + file.read_text(encoding="utf-8").rstrip("\n") + "\n```"


def support_page():
    out = ["# What the examples share {#example_support}", ""]
    out += ["Headers of the examples, not of the library: copy them with the example that includes them.", ""]
    for file in support_files():
        out += [f"## support/{file.name} {{#{support_anchor(file)}}}", "", code_of(file), ""]
    return "\n".join(out)


def support_of(files):
    """The shared headers that these files include, and those that these include."""
    by_name = {file.name: file for file in support_files()}
    found, to_read = set(), list(files)
    while to_read:
        text = to_read.pop().read_text(encoding="utf-8")
        new = {by_name[n] for n in re.findall(r'#include "(?:support/)?(\w+\.hpp)"', text) if n in by_name} - found
        found |= new
        to_read += new
    return sorted(found)


def example_page(name, files):
    out = [f"# {name} {{#example_{name}}}", ""]
    said = first_words(files[0])
    if said:
        out += [plain(said), ""]
    shared = support_of(files)
    if shared:
        out += ["Copy with it: " + ", ".join(f"[support/{f.name}](@ref {support_anchor(f)})" for f in shared) + ".", ""]
    out += [f"It links {needs(name)}.", ""]
    for file in files:
        relative = file.relative_to(root / "examples")
        if len(files) > 1:
            out += [f"## {relative} {{#{label('example_' + name, slug(str(relative.with_suffix('')) + file.suffix))}}}", ""]
        out += [code_of(file), ""]
    return "\n".join(out)


def write_pages(into):
    known, pictures = examples(), {}
    convert = converter(known, pictures)
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    for number, (source, name) in enumerate(guides.items()):
        text = convert.page(source)
        if name == "examples":
            for example, files in known.items():
                text += f"- @subpage example_{example} : {plain(first_sentence(files[0]))}\n"
            text += "- @subpage example_support\n"
        if name == "decisions":
            text += "".join(f"- @subpage {page}\n" for page in decisions.values())
        (into / f"{number:02}_{name}.md").write_text(text, encoding="utf-8")
    for name, files in known.items():
        (into / f"example_{name}.md").write_text(example_page(name, files), encoding="utf-8")
    (into / "example_support.md").write_text(support_page(), encoding="utf-8")
    shutil.rmtree(into.parent / "pictures", ignore_errors=True)
    (into.parent / "pictures").mkdir()
    for name, picture in pictures.items():
        shutil.copy(picture, into.parent / "pictures" / name)


class page_links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.names, self.targets = set(), []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.names.update(v for k, v in attrs if k in ("id", "name") and v)
        for key in ("href", "src"):
            if values.get(key):
                self.targets.append(values[key])


def check_links(html_directory, found):
    """Returns the links inside the site that lead nowhere, and how many there are in all; `found`: those of the search."""
    pages, dead, count = {"search": page_links()}, [], 0
    pages["search"].targets = [address for places in found.values() for address in places]
    for path in html_directory.glob("*.html"):
        pages[path.name] = page_links()
        pages[path.name].feed(path.read_text(encoding="utf-8"))
    for name, page in pages.items():
        for target in page.targets:
            url = urllib.parse.urlsplit(target)
            if url.scheme or target.startswith(("javascript:", "//")):
                continue
            count += 1
            to = urllib.parse.unquote(url.path) or name
            if not (html_directory / to).exists():
                dead.append(f"{name}: {target}")
            elif url.fragment and to in pages and urllib.parse.unquote(url.fragment) not in pages[to].names:
                dead.append(f"{name}: {target}")
    return dead, count


def remove_empty_summaries(html_directory):
    """Doxygen 1.9.4 links to the list of nested classes of a class that has only private ones."""
    for path in html_directory.glob("class*.html"):
        text = path.read_text(encoding="utf-8")
        if 'name="nested-classes"' not in text and 'href="#nested-classes"' in text:
            text = re.sub(r'<a href="#nested-classes">Classes</a>( &#124;\n)?', "", text)
            path.write_text(text, encoding="utf-8")


def remove_pages_of_files(html_directory):
    """Doxygen makes a page, with nothing on it, for each file that holds a guide, and an entry in the search."""
    for path in html_directory.glob("*_8md.html"):
        path.unlink()
    for path in (html_directory / "search").glob("*.js"):
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"\n  \['[^\n]*_8md\.html'[^\n]*\]\]\],?(?=\n)", "", text)
        if changed != text:
            path.write_text(re.sub(r",(?=\n\];)", "", changed), encoding="utf-8")


def restore_ends_of_comments(html_directory):
    """Doxygen 1.9.4 puts something between the star and the slash of */ in a comment, also where it is text."""
    for path in html_directory.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r"\*&(amp;)?zwj;/", "*/", text)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def changed_sources(html_directory):
    """Files of examples that a page does not show as they are."""
    found = []
    pages = {f"example_{name}.html": files for name, files in examples().items()} | {"example_support.html": support_files()}
    for name, files in pages.items():
        text = (html_directory / name).read_text(encoding="utf-8")
        shown = re.findall(r'<div class="fragment">(.*?)</div><!-- fragment -->', text, flags=re.S)
        shown = [html.unescape(re.sub(r"<[^>]*>", "", re.sub(r'<div class="ttc".*', "", part, flags=re.S))) for part in shown]
        for file, part in zip(files, shown, strict=True):
            if part.split() != file.read_text(encoding="utf-8").split():
                found.append(f"{name}: not as {file.relative_to(root)}")
    return found


def broken_markup(html_directory):
    """What is left of Markdown that Doxygen did not understand: a part of a table's row, a command."""
    found = []
    for path in sorted(html_directory.glob("*.html")):
        text = re.sub(r'<div class="fragment">.*?</div><!-- fragment -->', "", path.read_text(encoding="utf-8"), flags=re.S)
        for what in re.findall(r"\\ilinebr|<p>\|[^<]{0,40}|@(?:subpage|ref) \w*", text):
            found.append(f"{path.name}: {what}")
    return found


def remove_guessed_links(html_directory):
    """In a program, Doxygen takes a variable for whatever has its name: an enumerator `wheel`, say."""
    for path in html_directory.glob("*.html"):
        text = path.read_text(encoding="utf-8")
        changed = re.sub(r'(?<![.;])<a class="code hl_\w+"[^>]*>(\w+)</a>', r"\1", text)
        kept = set(re.findall(r'<a class="code[^>]* href="([^"]*)"', changed))

        def box(match):  # what is shown beside a link
            return match[0] if match[1] in kept else ""

        changed = re.sub(r'<div class="ttc" id="[^"]*"><div class="ttname"><a href="([^"]*)">.*?</div></div>\n', box, changed)
        if changed != text:
            path.write_text(changed, encoding="utf-8")


def main():
    directory = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "build/site").resolve()
    write_pages(directory / "pages")
    shutil.rmtree(directory / "html", ignore_errors=True)
    version = re.search(r"project\(cogwheel VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
    options = (site / "Doxyfile").read_text(encoding="utf-8")
    options += f"""
PROJECT_NUMBER = {version}
OUTPUT_DIRECTORY = {directory}
INPUT = {directory}/pages {root}/include/cogwheel
IMAGE_PATH = {directory}/pictures
STRIP_FROM_PATH = {root}/include {directory}/pages
STRIP_FROM_INC_PATH = {root}/include
"""
    done = subprocess.run(["doxygen", "-"], input=options, cwd=root, capture_output=True, text=True, check=False)
    warnings = [line.replace(str(root) + "/", "") for line in done.stderr.splitlines() if line.strip()]
    remove_empty_summaries(directory / "html")
    remove_pages_of_files(directory / "html")
    remove_guessed_links(directory / "html")
    restore_ends_of_comments(directory / "html")
    found = add_guides(directory / "pages", directory / "html/search")
    dead, links = check_links(directory / "html", found)
    warnings += broken_markup(directory / "html") + changed_sources(directory / "html")
    for line in warnings + dead:
        print(line)
    pages = len(list((directory / "html").glob("*.html")))
    print(f"see {directory / 'html/index.html'}")
    print(f"site: {pages} pages, {links} links, {len(dead)} dead, {len(warnings)} warnings; {len(found)} words of guides in the search")
    return 1 if done.returncode or warnings or dead else 0


if __name__ == "__main__":
    sys.exit(main())
